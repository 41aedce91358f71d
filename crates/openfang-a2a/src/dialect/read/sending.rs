//! How a message wants to be answered, and requests that name a task and little else.

use openfang_types::ids::TaskName;
use openfang_types::task::Message;
use serde::Deserialize;

use super::{Count, Object, PushIn, Read, required, tenant, under};
use crate::operation::{Continued, History, Method, Sending, When};

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

impl ConfigurationIn {
    /// Puts a message and what it wants together. `waits` is what the dialect says about waiting.
    pub(in crate::dialect) fn read(
        self,
        method: Method,
        waits: bool,
        to: (Message, Option<TaskName>),
    ) -> Read<Sending> {
        let push = self.task_push_notification_config.map(|Object(push)| push.read()).transpose();
        let (message, task) = to;
        Ok(Sending {
            message,
            task: task.map(Continued::Known),
            accepted_output_modes: self.accepted_output_modes.unwrap_or_default(),
            history: History(self.history_length.map(|count| count.0)),
            answer: when(method, waits),
            push: push.map_err(under("configuration.taskPushNotificationConfig"))?,
        })
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
