//! What is posted, in the dialect of the configuration: in 1.0 each event as a stream shows it, in the older ones the
//! whole task as it stood after the event.

use std::collections::VecDeque;

use openfang_a2a::answer::{Answer, NamedTask, StreamEvent, StreamHead};
use openfang_a2a::dialect::{Dialect, InDialect};
use openfang_a2a::operation::HistoryLength;
use openfang_store::{StoreError, TaskRecord, TaskStore};
use openfang_types::event::{EventBody, Seq, StreamItem, TaskEvent};
use openfang_types::limits::PUSH_BATCH_EVENTS;
use openfang_types::task::Origin;
use serde::Serialize;

use super::name_of;

/// A body, ready to be sent.
pub(super) struct Payload {
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
}

/// An event, and what is posted of it; none: the dialect has no words for it.
pub(super) struct Chapter {
    pub(super) seq: Seq,
    pub(super) payload: Option<Payload>,
}

/// What has happened to a task since an event.
pub(super) struct Story {
    dialect: Dialect,
    head: StreamHead,
    /// The task as it stood after the last event that was taken; only kept for dialects that show it.
    told: Answer,
    coming: VecDeque<StreamItem>,
}

impl Story {
    /// Reads the next events after a place, or the task as it is if they were folded away.
    pub(super) async fn read(
        tasks: &dyn TaskStore,
        record: TaskRecord,
        after: Seq,
        origin: Origin,
    ) -> Result<Self, StoreError> {
        let dialect = dialect(origin);
        let (owner, id) = (record.owner.clone(), record.task.id);
        let coming = tasks.events(&owner, id, after, PUSH_BATCH_EVENTS).await?;
        let is_folded = coming.is_empty() && after < record.seq;
        let before = match is_told_as_a_task(dialect) && !is_folded && after > 0 {
            true => tasks.events(&owner, id, 0, usize::try_from(after).unwrap_or(usize::MAX)).await?,
            false => Vec::new(),
        };
        let head = StreamHead {
            task: name_of(&record),
            context: record.task.context_id.to_string(),
            history: HistoryLength::default(),
            artifacts: Vec::new(),
        };
        let mut held = NamedTask { task: record.task, origin: record.origin, peer_name: record.peer_name };
        let coming = if is_folded {
            VecDeque::from([StreamItem::Snapshot(Box::new(held.task.clone()), record.seq)])
        } else {
            held.task.begin_again(record.created_at);
            before.iter().for_each(|event| held.task.apply(&event.body));
            coming.into_iter().map(|event| StreamItem::Event(Box::new(event))).collect()
        };
        Ok(Self { dialect, head, told: Answer::Task(Box::new(held), HistoryLength::default()), coming })
    }

    pub(super) fn next(&mut self) -> Option<Chapter> {
        let item = self.coming.pop_front()?;
        let seq = match &item {
            StreamItem::Snapshot(_, seq) => *seq,
            StreamItem::Event(event) => event.seq,
            StreamItem::Shutdown => return None,
        };
        let payload = if is_told_as_a_task(self.dialect) { self.task_after(&item) } else { self.as_streamed(&item) };
        Some(Chapter { seq, payload })
    }

    fn as_streamed(&self, item: &StreamItem) -> Option<Payload> {
        let shown = StreamEvent::Item(&self.head, item);
        self.dialect
            .can_write(shown)
            .then(|| encoded("application/a2a+json", &InDialect(self.dialect, &shown)))?
    }

    fn task_after(&mut self, item: &StreamItem) -> Option<Payload> {
        if let (StreamItem::Event(event), Answer::Task(held, _)) = (item, &mut self.told) {
            held.task.apply(&event.body);
        }
        let is_told = match item {
            StreamItem::Snapshot(..) => true,
            StreamItem::Event(event) => is_told(event),
            StreamItem::Shutdown => false,
        };
        is_told.then(|| encoded("application/json", &InDialect(self.dialect, &self.told)))?
    }
}

/// What the receiver said itself is no news to it.
const fn is_told(event: &TaskEvent) -> bool {
    match event.body {
        EventBody::Status(_) | EventBody::Artifact(_) => true,
        EventBody::Message(_) => false,
    }
}

fn encoded(media_type: &'static str, value: &impl Serialize) -> Option<Payload> {
    match serde_json::to_vec(value) {
        Ok(body) => Some(Payload { media_type, body }),
        Err(error) => {
            tracing::error!(%error, "an event cannot be written and is not pushed");
            None
        }
    }
}

/// Who did not ask in a dialect of A2A is told in the newest.
const fn dialect(origin: Origin) -> Dialect {
    match origin {
        Origin::OpenFang | Origin::V10 => Dialect::V10,
        Origin::OpenFangA2a => Dialect::OpenFang,
        Origin::V01 => Dialect::V01,
        Origin::V03 => Dialect::V03,
    }
}

const fn is_told_as_a_task(dialect: Dialect) -> bool {
    match dialect {
        Dialect::OpenFang | Dialect::V01 | Dialect::V03 | Dialect::V03Proto => true,
        Dialect::V10 => false,
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
