//! Writes answers and streams of 0.3 on HTTP+JSON.

use openfang_types::event::{EventBody, StreamItem};
use serde::{Serialize, Serializer};

use super::CONFIGS;
use super::task::{ArtifactOut, MessageOut, StatusOut, TaskOut};
use crate::answer::{Answer, StreamEvent, StreamHead, TaskPushConfig};
use crate::dialect::write::{CreatorName, Each, EmptyObject, PageOut, PushConfigOut, TaskScope, VisibleTask, is_final};

pub(in crate::dialect) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) => Payload::Task(TaskOut::new(VisibleTask::of(held, *history))).serialize(to),
        Answer::Replied(message) => Payload::Message(MessageOut::new(message, None)).serialize(to),
        Answer::Task(held, history) => TaskOut::new(VisibleTask::of(held, *history)).serialize(to),
        Answer::Tasks(page) => {
            PageOut::new(page, |held, page| TaskOut::new(VisibleTask::listed(held, page))).serialize(to)
        }
        Answer::Push(push) => PushOut::new(push, ()).serialize(to),
        Answer::Pushes(pushes) => PushesOut { configs: Each::new(pushes, (), PushOut::new) }.serialize(to),
        Answer::Gone => EmptyObject {}.serialize(to),
        Answer::Card(card) => card.serialize(to),
    }
}

pub(in crate::dialect) fn shown<S: Serializer>(shown: StreamEvent<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        StreamEvent::Reply(message) => Payload::Message(MessageOut::new(message, None)).serialize(to),
        StreamEvent::Item(head, StreamItem::Snapshot(task, _)) => {
            Payload::Task(TaskOut::new(VisibleTask::streamed(head, task))).serialize(to)
        }
        StreamEvent::Item(head, StreamItem::Event(event)) => Payload::event(head, &event.body).serialize(to),
        StreamEvent::Item(_, StreamItem::Shutdown) => EmptyObject {}.serialize(to),
    }
}

/// `SendMessageResponse` and `StreamResponse`. The message field is named `msg`, and its JSON name is `message`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Payload<'a> {
    Task(TaskOut<'a>),
    Message(MessageOut<'a>),
    StatusUpdate {
        task_id: CreatorName<'a>,
        context_id: &'a str,
        status: StatusOut<'a>,
        #[serde(rename = "final", skip_serializing_if = "std::ops::Not::not")]
        is_final: bool,
    },
    ArtifactUpdate {
        task_id: CreatorName<'a>,
        context_id: &'a str,
        artifact: ArtifactOut<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        append: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        last_chunk: bool,
    },
}

impl<'a> Payload<'a> {
    fn event(head: &'a StreamHead, body: &'a EventBody) -> Self {
        let within = TaskScope::from(head);
        let (task_id, context_id) = (within.task, within.context);
        match body {
            EventBody::Message(message) => Self::Message(MessageOut::new(message, Some(within))),
            EventBody::Status(status) => Self::StatusUpdate {
                task_id,
                context_id,
                status: StatusOut::new(status, within),
                is_final: is_final(status.state),
            },
            EventBody::Artifact(update) => Self::ArtifactUpdate {
                task_id,
                context_id,
                artifact: ArtifactOut::new(&update.artifact, ()),
                append: update.append,
                last_chunk: update.last_chunk,
            },
        }
    }
}

#[derive(Serialize)]
struct PushesOut<'a> {
    configs: Each<'a, TaskPushConfig, (), PushOut<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushOut<'a> {
    name: String,
    push_notification_config: PushConfigOut<'a>,
}

impl<'a> PushOut<'a> {
    fn new(push: &'a TaskPushConfig, (): ()) -> Self {
        let name = format!("tasks/{}{CONFIGS}{}", push.task, push.id);
        Self { name, push_notification_config: PushConfigOut::named(push) }
    }
}
