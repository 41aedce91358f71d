//! Answers and streams of 0.1.

use openfang_types::event::{EventBody, StreamItem};
use serde::{Serialize, Serializer};

use super::task::{ArtifactOut, MessageOut, ReplyOut, StatusOut, TaskOut};
use crate::answer::{Answer, StreamEvent, TaskPushConfig};
use crate::dialect::write::{CreatorName, Each, PageOut, PushConfigOut, TaskScope, VisibleTask, is_final};

pub(in crate::dialect) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) | Answer::Task(held, history) => {
            TaskOut::new(VisibleTask::of(held, *history)).serialize(to)
        }
        Answer::Replied(message) => ReplyOut::new(message).serialize(to),
        // No method of 0.1 leads to the next two. They follow the general pattern.
        Answer::Tasks(page) => {
            PageOut::new(page, |held, page| TaskOut::new(VisibleTask::listed(held, page))).serialize(to)
        }
        Answer::Pushes(pushes) => Each::new(pushes, (), PushOut::new).serialize(to),
        Answer::Push(push) => PushOut::new(push, ()).serialize(to),
        Answer::Gone => to.serialize_unit(),
        Answer::Card(card) => card.serialize(to),
    }
}

pub(in crate::dialect) fn shown<S: Serializer>(shown: StreamEvent<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        StreamEvent::Reply(message) => ReplyOut::new(message).serialize(to),
        // 0.1 streams no tasks, only changes. A snapshot becomes a status event with all other members of the task.
        StreamEvent::Item(head, StreamItem::Snapshot(task, _)) => {
            TaskOut::in_stream(VisibleTask::streamed(head, task)).serialize(to)
        }
        StreamEvent::Item(head, StreamItem::Event(event)) => {
            let id = TaskScope::from(head).task;
            match &event.body {
                EventBody::Message(message) => MessageOut::new(message, ()).serialize(to),
                EventBody::Status(status) => {
                    let is_final = is_final(status.state);
                    StatusEvent { id, status: StatusOut::new(status), is_final }.serialize(to)
                }
                EventBody::Artifact(update) => {
                    let index = head.index_of(&update.artifact.artifact_id);
                    let artifact = ArtifactOut::new(&update.artifact, index).chunk(update.append, update.last_chunk);
                    ArtifactEvent { id, artifact }.serialize(to)
                }
            }
        }
        StreamEvent::Item(_, StreamItem::Shutdown) => to.serialize_unit(),
    }
}

#[derive(Serialize)]
struct StatusEvent<'a> {
    id: CreatorName<'a>,
    status: StatusOut<'a>,
    #[serde(rename = "final")]
    is_final: bool,
}

#[derive(Serialize)]
struct ArtifactEvent<'a> {
    id: CreatorName<'a>,
    artifact: ArtifactOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushOut<'a> {
    id: &'a str,
    push_notification_config: PushConfigOut<'a>,
}

impl<'a> PushOut<'a> {
    fn new(push: &'a TaskPushConfig, (): ()) -> Self {
        Self { id: &push.task, push_notification_config: PushConfigOut::nameless(&push.config) }
    }
}
