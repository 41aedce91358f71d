//! The text that an agent says bit by bit, until its commit. Pieces of one artifact that come soon after each other are
//! joined, so a commit holds the text of a while.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_runtime::answerer::TextDelta;
use openfang_types::limits::TEXT_WAITING_BYTES;
use openfang_types::taint::Labels;
use tokio::sync::Notify;

/// The text of a task that waits for its commit.
#[derive(Default)]
pub(super) struct WaitingText {
    said: Mutex<PendingText>,
    arrived: Notify,
    taken: Notify,
}

/// What was said since the last commit.
#[derive(Default)]
pub(super) struct PendingText {
    pub(super) pieces: Vec<TextDelta>,
    /// What had entered the run by then.
    pub(super) labels: Labels,
    bytes: usize,
}

impl WaitingText {
    /// Adds a piece. Whoever says much waits until there is room.
    pub(super) async fn say(&self, delta: TextDelta, entered: &Labels) {
        loop {
            // Before the look, or the call could be missed.
            let taken = self.taken.notified();
            {
                let mut said = self.lock();
                if said.bytes < TEXT_WAITING_BYTES {
                    said.labels.join(entered);
                    said.add(delta);
                    break;
                }
            }
            taken.await;
        }
        self.arrived.notify_one();
    }

    /// Returns when something waits.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// What waits, for its commit.
    pub(super) fn take(&self) -> Option<PendingText> {
        let mut said = self.lock();
        if said.pieces.is_empty() {
            return None;
        }
        let taken = std::mem::take(&mut *said);
        drop(said);
        self.taken.notify_waiters();
        Some(taken)
    }

    fn lock(&self) -> MutexGuard<'_, PendingText> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingText {
    fn add(&mut self, delta: TextDelta) {
        self.bytes += delta.text.len();
        match self.pieces.last_mut() {
            Some(last) if last.artifact_id == delta.artifact_id && !last.is_last && !delta.begins => {
                last.text.push_str(&delta.text);
                last.is_last = delta.is_last;
            }
            _ => self.pieces.push(delta),
        }
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
