//! Writes answers and streams of 1.0.

use openfang_types::event::{ArtifactUpdate, EventBody, StreamItem};
use openfang_types::secret::Secret;
use serde::{Serialize, Serializer};

use super::task::{ArtifactOut, MessageOut, StatusOut, TaskOut};
use crate::answer::{Answer, StreamEvent, StreamHead, TaskPushConfig};
use crate::dialect::write::{CreatorName, Each, EmptyObject, PageOut, TaskScope, VisibleTask};
use crate::operation::PushNotificationConfig;

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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Payload<'a> {
    Task(TaskOut<'a>),
    Message(MessageOut<'a>),
    StatusUpdate(StatusUpdateOut<'a>),
    ArtifactUpdate(ArtifactUpdateOut<'a>),
}

impl<'a> Payload<'a> {
    fn event(head: &'a StreamHead, body: &'a EventBody) -> Self {
        let within = TaskScope::from(head);
        match body {
            EventBody::Message(message) => Self::Message(MessageOut::new(message, Some(within))),
            EventBody::Status(status) => Self::StatusUpdate(StatusUpdateOut {
                task_id: within.task,
                context_id: within.context,
                status: StatusOut::new(status, within),
            }),
            EventBody::Artifact(update) => Self::ArtifactUpdate(ArtifactUpdateOut::new(update, within)),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdateOut<'a> {
    task_id: CreatorName<'a>,
    context_id: &'a str,
    status: StatusOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdateOut<'a> {
    task_id: CreatorName<'a>,
    context_id: &'a str,
    artifact: ArtifactOut<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    append: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    last_chunk: bool,
}

impl<'a> ArtifactUpdateOut<'a> {
    fn new(update: &'a ArtifactUpdate, within: TaskScope<'a>) -> Self {
        Self {
            task_id: within.task,
            context_id: within.context,
            artifact: ArtifactOut::new(&update.artifact, ()),
            append: update.append,
            last_chunk: update.last_chunk,
        }
    }
}

#[derive(Serialize)]
struct PushesOut<'a> {
    configs: Each<'a, TaskPushConfig, (), PushOut<'a>>,
}

/// `TaskPushNotificationConfig`, in requests and in answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PushOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<AuthenticationOut<'a>>,
}

#[derive(Serialize)]
struct AuthenticationOut<'a> {
    scheme: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

impl<'a> PushOut<'a> {
    fn new(push: &'a TaskPushConfig, (): ()) -> Self {
        Self { id: Some(&push.id), ..Self::of(&push.config, Some(&push.task)) }
    }

    /// Sets the tenant of the request.
    pub(super) fn at(self, tenant: Option<&'a str>) -> Self {
        Self { tenant, ..self }
    }

    pub(super) fn of(config: &'a PushNotificationConfig, task: Option<&'a str>) -> Self {
        Self {
            tenant: None,
            id: config.id.as_deref(),
            task_id: task,
            url: &config.url,
            token: config.token.as_ref().map(Secret::expose),
            authentication: config.authentication.as_ref().map(|given| AuthenticationOut {
                scheme: &given.scheme,
                credentials: given.credentials.as_ref().map(Secret::expose),
            }),
        }
    }
}
