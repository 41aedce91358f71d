//! What a model says, piece by piece, on its way from the wire to the task. The wire tells without waiting; the task is told
//! beside it, so a slow store holds up no connection.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use openfang_model::Delta;
use openfang_types::ids::ArtifactId;
use tokio::sync::Notify;

use crate::answerer::{EventSink, RunEvent, RunStopped, TextDelta};

/// The text of one try of an answer.
#[derive(Default)]
pub(super) struct Deltas {
    text: Mutex<String>,
    arrived: Notify,
    /// How many bytes have arrived, shown or not.
    bytes: AtomicUsize,
}

impl Deltas {
    /// Takes what the wire tells. Reasoning and arguments of calls are not shown.
    pub(super) fn take(&self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                self.text.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
                self.arrived.notify_one();
            }
            Delta::Thinking(_) | Delta::CallBegins { .. } | Delta::CallGrows { .. } => {}
        }
    }

    /// Counts what arrives of an answer.
    pub(super) fn count(&self, delta: &Delta<'_>) {
        let bytes = match delta {
            Delta::Text(text) | Delta::Thinking(text) => text.len(),
            Delta::CallBegins { name, .. } => name.len(),
            Delta::CallGrows { bytes, .. } => *bytes,
        };
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How many bytes of an answer have arrived.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> String {
        std::mem::take(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Tells the text of an answer as an artifact. What a try before has told is replaced.
pub(super) struct Teller<'a> {
    events: &'a dyn EventSink,
    artifact: ArtifactId,
    has_told: bool,
}

impl<'a> Teller<'a> {
    pub(super) fn new(events: &'a dyn EventSink, artifact: ArtifactId) -> Self {
        Self { events, artifact, has_told: false }
    }

    /// Tells whatever arrives. Ends only when nothing more can be told.
    pub(super) async fn follow(&mut self, deltas: &Deltas) -> RunStopped {
        loop {
            deltas.arrived.notified().await;
            if let Err(stopped) = self.tell(deltas).await {
                return stopped;
            }
        }
    }

    /// Tells the text that waits.
    pub(super) async fn tell(&mut self, deltas: &Deltas) -> Result<(), RunStopped> {
        let text = deltas.waiting();
        if text.is_empty() {
            return Ok(());
        }
        self.say(text).await
    }

    pub(super) async fn say(&mut self, text: String) -> Result<(), RunStopped> {
        let begins = !std::mem::replace(&mut self.has_told, true);
        let (artifact_id, name) = (self.artifact.clone(), Some("reply".to_owned()));
        self.events
            .emit(RunEvent::Text(TextDelta { artifact_id, name, text, begins, is_last: false }))
            .await
    }
}
