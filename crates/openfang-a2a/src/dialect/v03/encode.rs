//! Writes answers and streams of 0.2 and 0.3.

use openfang_types::event::{EventBody, StreamItem};
use serde::{Serialize, Serializer};

use super::task::{ArtifactOut, MessageOut, StatusOut, TaskOut};
use crate::answer::{Answer, StreamEvent, TaskPushConfig};
use crate::dialect::write::{CreatorName, Each, PageOut, PushConfigOut, TaskScope, VisibleTask, is_final};

pub(in crate::dialect) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) | Answer::Task(held, history) => {
            TaskOut::new(VisibleTask::of(held, *history)).serialize(to)
        }
        Answer::Replied(message) => MessageOut::new(message, None).serialize(to),
        // No method leads here. It follows the general pattern.
        Answer::Tasks(page) => {
            PageOut::new(page, |held, page| TaskOut::new(VisibleTask::listed(held, page))).serialize(to)
        }
        Answer::Push(push) => PushOut::new(push, ()).serialize(to),
        Answer::Pushes(pushes) => Each::new(pushes, (), PushOut::new).serialize(to),
        Answer::Gone => to.serialize_unit(),
        Answer::Card(card) => card.serialize(to),
    }
}

pub(in crate::dialect) fn shown<S: Serializer>(shown: StreamEvent<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        StreamEvent::Reply(message) => MessageOut::new(message, None).serialize(to),
        StreamEvent::Item(head, StreamItem::Snapshot(task, _)) => {
            TaskOut::new(VisibleTask::streamed(head, task)).serialize(to)
        }
        StreamEvent::Item(head, StreamItem::Event(event)) => {
            let within = TaskScope::from(head);
            let (task_id, context_id) = (within.task, within.context);
            match &event.body {
                EventBody::Message(message) => MessageOut::new(message, Some(within)).serialize(to),
                EventBody::Status(status) => Event::StatusUpdate {
                    task_id,
                    context_id,
                    status: StatusOut::new(status, within),
                    is_final: is_final(status.state),
                }
                .serialize(to),
                EventBody::Artifact(update) => Event::ArtifactUpdate {
                    task_id,
                    context_id,
                    artifact: ArtifactOut::new(&update.artifact, ()),
                    append: update.append,
                    last_chunk: update.last_chunk,
                }
                .serialize(to),
            }
        }
        StreamEvent::Item(_, StreamItem::Shutdown) => to.serialize_unit(),
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Event<'a> {
    StatusUpdate {
        task_id: CreatorName<'a>,
        context_id: &'a str,
        status: StatusOut<'a>,
        #[serde(rename = "final")]
        is_final: bool,
    },
    ArtifactUpdate {
        task_id: CreatorName<'a>,
        context_id: &'a str,
        artifact: ArtifactOut<'a>,
        append: bool,
        last_chunk: bool,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushOut<'a> {
    task_id: &'a str,
    push_notification_config: PushConfigOut<'a>,
}

impl<'a> PushOut<'a> {
    fn new(push: &'a TaskPushConfig, (): ()) -> Self {
        Self { task_id: &push.task, push_notification_config: PushConfigOut::named(push) }
    }
}
