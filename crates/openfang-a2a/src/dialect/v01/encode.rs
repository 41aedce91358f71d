//! Answers and streams of 0.1.

use openfang_types::event::{EventBody, StreamItem};
use serde::{Serialize, Serializer};

use super::task::{ArtifactOut, MessageOut, ReplyOut, StatusOut, TaskOut};
use crate::answer::{Answer, Push, Shown};
use crate::dialect::write::{Each, Name, PageOut, PushConfigOut, View, Within, is_final};

pub(in crate::dialect) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) | Answer::Task(held, history) => {
            TaskOut::new(View::of(held, *history)).serialize(to)
        }
        Answer::Replied(message) => ReplyOut::new(message).serialize(to),
        // No method of 0.1 leads to the next two; they are written as one would expect them.
        Answer::Tasks(page) => PageOut::new(page, |held, page| TaskOut::new(View::listed(held, page))).serialize(to),
        Answer::Pushes(pushes) => Each::new(pushes, (), PushOut::new).serialize(to),
        Answer::Push(push) => PushOut::new(push, ()).serialize(to),
        Answer::Gone => to.serialize_unit(),
        Answer::Card(card) => card.serialize(to),
    }
}

pub(in crate::dialect) fn shown<S: Serializer>(shown: Shown<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        Shown::Reply(message) => ReplyOut::new(message).serialize(to),
        // A stream of 0.1 knows no tasks, only changes: this is its status event, and says everything else as well.
        Shown::Item(head, StreamItem::Snapshot(task, _)) => {
            TaskOut::in_stream(View::streamed(head, task)).serialize(to)
        }
        Shown::Item(head, StreamItem::Event(event)) => {
            let id = Within::from(head).task;
            match &event.body {
                EventBody::Message(message) => MessageOut::new(message, ()).serialize(to),
                EventBody::Status(status) => {
                    let is_final = is_final(status.state);
                    StatusEvent { id, status: StatusOut::new(status), is_final }.serialize(to)
                }
                EventBody::Artifact(update) => {
                    let index = head.place_of(&update.artifact.artifact_id);
                    let artifact = ArtifactOut::new(&update.artifact, index).chunk(update.append, update.last_chunk);
                    ArtifactEvent { id, artifact }.serialize(to)
                }
            }
        }
        Shown::Item(_, StreamItem::Shutdown) => to.serialize_unit(),
    }
}

#[derive(Serialize)]
struct StatusEvent<'a> {
    id: Name<'a>,
    status: StatusOut<'a>,
    #[serde(rename = "final")]
    is_final: bool,
}

#[derive(Serialize)]
struct ArtifactEvent<'a> {
    id: Name<'a>,
    artifact: ArtifactOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushOut<'a> {
    id: &'a str,
    push_notification_config: PushConfigOut<'a>,
}

impl<'a> PushOut<'a> {
    fn new(push: &'a Push, (): ()) -> Self {
        Self { id: &push.task, push_notification_config: PushConfigOut::nameless(&push.config) }
    }
}
