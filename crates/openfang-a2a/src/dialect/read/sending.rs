//! How a message wants to be answered, and requests that name a task and little else.

use openfang_types::ids::TaskName;
use serde::Deserialize;

use super::message::present;
use super::{Count, MessageIn, Metadata, Naming, Object, PartIn, PushIn, Read, merged, required, tenant, under};
use crate::operation::{Continued, History, Method, Operation, Request, Sending, When};

/// `SendMessageConfiguration` in all its versions.
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

/// What the dialects say differently about sending a message.
pub(in crate::dialect) struct Manner {
    /// Whether the answer waits for the task to settle.
    pub(in crate::dialect) waits: fn(&ConfigurationIn) -> bool,
    /// What the push configuration is called.
    pub(in crate::dialect) push: &'static str,
}

/// `SendMessageRequest`, and `MessageSendParams`.
#[derive(Deserialize)]
pub(in crate::dialect) struct SendIn<P> {
    tenant: Option<String>,
    #[serde(alias = "request")]
    message: Option<Object<MessageIn<P>>>,
    configuration: Option<Object<ConfigurationIn>>,
    metadata: Option<Metadata>,
}

impl<P: PartIn> SendIn<P> {
    pub(in crate::dialect) fn read(self, method: Method, manner: &Manner) -> Read<Request> {
        let (mut message, task) = present(self.message)?.read(Naming::BySender).map_err(under("message"))?;
        message.metadata = merged(self.metadata, message.metadata);
        let configuration = self.configuration.unwrap_or_default().0;
        let answer = when(method, (manner.waits)(&configuration));
        let push = configuration.task_push_notification_config.map(|Object(push)| push.read()).transpose();
        let sending = Sending {
            message,
            task: task.map(Continued::Known),
            accepted_output_modes: configuration.accepted_output_modes.unwrap_or_default(),
            history: History(configuration.history_length.map(|count| count.0)),
            answer,
            push: push.map_err(under(manner.push)).map_err(under("configuration"))?,
        };
        Ok(Request { tenant: tenant(self.tenant)?, operation: Operation::Send(Box::new(sending)) })
    }
}

/// When a message is answered.
pub(in crate::dialect) fn when(method: Method, waits: bool) -> When {
    match (method, waits) {
        (Method::Stream, _) => When::Streaming,
        (_, true) => When::Settled,
        (_, false) => When::AtOnce,
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
    pub(in crate::dialect) fn tenant(&mut self) -> Read<Option<String>> {
        tenant(self.tenant.take())
    }

    pub(in crate::dialect) fn task(self) -> Read<(TaskName, History)> {
        Ok((required("id", self.id)?, History(self.history_length.map(|count| count.0))))
    }
}
