//! Reads how a message wants to be answered, and requests that contain little more than a task.

use openfang_types::ids::TaskName;
use serde::Deserialize;

use super::message::present;
use super::{Count, MessageIn, Metadata, Naming, Object, PartIn, PushIn, ReadResult, merged, required, tenant, under};
use crate::operation::{HistoryLength, Method, Operation, ReplyMode, Request, SendMessage, TaskReference};

/// `SendMessageConfiguration` in all versions.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct ConfigurationIn {
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<String>>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    #[serde(alias = "return_immediately")]
    pub(in crate::dialect) return_immediately: Option<bool>,
    pub(in crate::dialect) blocking: Option<bool>,
    #[serde(
        alias = "task_push_notification_config",
        alias = "pushNotificationConfig",
        alias = "push_notification_config",
        alias = "pushNotification",
        alias = "push_notification"
    )]
    task_push_notification_config: Option<Object<PushIn>>,
}

/// The differences between the dialects in sending a message.
pub(in crate::dialect) struct SendConventions {
    /// Whether the answer waits until the task has ended or needs input.
    pub(in crate::dialect) waits: fn(&ConfigurationIn) -> bool,
    /// The name of the member with the push configuration.
    pub(in crate::dialect) push: &'static str,
}

#[derive(Deserialize)]
pub(in crate::dialect) struct SendIn<P> {
    tenant: Option<String>,
    #[serde(alias = "request")]
    message: Option<Object<MessageIn<P>>>,
    configuration: Option<Object<ConfigurationIn>>,
    metadata: Option<Metadata>,
}

impl<P: PartIn> SendIn<P> {
    pub(in crate::dialect) fn read(self, method: Method, manner: &SendConventions) -> ReadResult<Request> {
        let (mut message, task) = present(self.message)?.read(Naming::BySender).map_err(under("message"))?;
        message.metadata = merged(self.metadata, message.metadata);
        let configuration = self.configuration.unwrap_or_default().0;
        let answer = when(method, (manner.waits)(&configuration));
        let push = configuration.task_push_notification_config.map(|Object(push)| push.read()).transpose();
        let sending = SendMessage {
            message,
            task: task.map(TaskReference::Existing),
            accepted_output_modes: configuration.accepted_output_modes.unwrap_or_default(),
            history: HistoryLength(configuration.history_length.map(|count| count.0)),
            answer,
            push: push.map_err(under(manner.push)).map_err(under("configuration"))?,
        };
        Ok(Request { tenant: tenant(self.tenant)?, operation: Operation::Send(Box::new(sending)) })
    }
}

/// When a message is answered.
pub(in crate::dialect) fn when(method: Method, waits: bool) -> ReplyMode {
    match (method, waits) {
        (Method::Stream, _) => ReplyMode::Streaming,
        (_, true) => ReplyMode::Settled,
        (_, false) => ReplyMode::AtOnce,
    }
}

/// A request that names a task.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct TaskIn {
    tenant: Option<String>,
    id: Option<String>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
}

impl TaskIn {
    pub(in crate::dialect) fn tenant(&mut self) -> ReadResult<Option<String>> {
        tenant(self.tenant.take())
    }

    pub(in crate::dialect) fn task(self) -> ReadResult<(TaskName, HistoryLength)> {
        Ok((required("id", self.id)?, HistoryLength(self.history_length.map(|count| count.0))))
    }
}
