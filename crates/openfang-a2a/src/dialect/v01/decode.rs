//! Reads requests of 0.1. OpenFang's dialect shares them, with parts of its own.

use openfang_types::ids::TaskName;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::read::{
    self, Count, LegacyPart, MessageIn, Metadata, Name, Naming, Object, PartIn, PushIn, ReadResult, merged, named,
    required, under,
};
use crate::error::A2aError;
use crate::operation::{HistoryLength, Method, Operation, Request, SendMessage, TaskReference};

pub(in crate::dialect) fn decode(method: Method, params: Option<&RawValue>) -> ReadResult<Request> {
    let operation = match method {
        Method::Send | Method::Stream => read::params::<SendIn<LegacyPart>>(params)?.read(method)?,
        Method::Get => {
            let (task, history) = read::params::<TaskIn>(params)?.read()?;
            Operation::Get { task, history }
        }
        Method::Cancel => Operation::Cancel { task: read::params::<TaskIn>(params)?.read()?.0 },
        Method::Subscribe => Operation::Subscribe { task: read::params::<TaskIn>(params)?.read()?.0 },
        Method::SetPush => {
            let SetPushIn { id, push_notification_config } = read::params(params)?;
            let task = required("id", id.map(|id| id.0))?;
            Operation::SetPush { task: Some(task), config: read::config(push_notification_config)? }
        }
        Method::GetPush => Operation::GetPush { task: read::params::<TaskIn>(params)?.read()?.0, id: None },
        Method::List | Method::ListPush | Method::DeletePush | Method::ExtendedCard => {
            return Err(A2aError::MethodNotFound(method.to_string()));
        }
    };
    Ok(Request { tenant: None, operation })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct SendIn<P> {
    id: Option<Name>,
    #[serde(alias = "session_id")]
    session_id: Option<Name>,
    message: Option<Object<MessageIn<P>>>,
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<String>>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    #[serde(alias = "push_notification")]
    push_notification: Option<Object<PushIn>>,
    metadata: Option<Metadata>,
}

impl<P: PartIn> SendIn<P> {
    pub(in crate::dialect) fn read(self, method: Method) -> ReadResult<Operation> {
        let (mut message, _) = read::present(self.message)?.read(Naming::ByUs).map_err(under("message"))?;
        message.metadata = merged(self.metadata, message.metadata);
        message.context_id = named("sessionId", self.session_id.map(|id| id.0))?.or(message.context_id);
        let task: Option<TaskName> = named("id", self.id.map(|id| id.0))?;
        Ok(Operation::Send(Box::new(SendMessage {
            message,
            task: task.map(TaskReference::ExistingOrNew),
            accepted_output_modes: self.accepted_output_modes.unwrap_or_default(),
            history: HistoryLength(self.history_length.map(|count| count.0)),
            answer: read::when(method, true),
            push: self
                .push_notification
                .map(|Object(push)| push.read())
                .transpose()
                .map_err(under("pushNotification"))?,
        })))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct TaskIn {
    id: Option<Name>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
}

impl TaskIn {
    pub(in crate::dialect) fn read(self) -> ReadResult<(TaskName, HistoryLength)> {
        Ok((required("id", self.id.map(|id| id.0))?, HistoryLength(self.history_length.map(|count| count.0))))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetPushIn {
    id: Option<Name>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<PushIn>>,
}
