//! Writes requests of 0.1. OpenFang's dialect shares them, with parts of its own.

use openfang_types::ids::TaskName;
use serde::Serialize;
use serde_json::value::RawValue;

use super::task::MessageOut;
use crate::dialect::Dialect;
use crate::dialect::request::{WriteError, WriteResult, json};
use crate::dialect::write::PushConfigOut;
use crate::operation::{Operation, Request, SendMessage, TaskReference};

/// The parameters of a method.
pub(in crate::dialect) fn params(request: &Request) -> WriteResult<Box<RawValue>> {
    let operation = Dialect::V01.without_tenant(request)?;
    let task = |id| TaskRequest { id, history_length: None };
    match operation {
        Operation::Send(sending) => json(&SendRequest::new(sending, MessageOut::new(&sending.message, ()))),
        Operation::Get { task: id, history } => json(&TaskRequest { history_length: history.0, ..task(id) }),
        // A task has a single push configuration, so it has no name.
        Operation::Cancel { task: id } | Operation::Subscribe { task: id } | Operation::GetPush { task: id, .. } => {
            json(&task(id))
        }
        Operation::SetPush { task, config } => json(&SetPushRequest {
            id: task.as_ref().ok_or(WriteError::TaskUnnamed)?,
            push_notification_config: PushConfigOut::nameless(config),
        }),
        Operation::List(_) | Operation::ListPush { .. } | Operation::DeletePush { .. } | Operation::ExtendedCard => {
            Err(WriteError::NoOperation(Dialect::V01, operation.method()))
        }
    }
}

/// `TaskSendParams`. The version has no member for the waiting mode: the answer always waits.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct SendRequest<'a, M> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    message: M,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification: Option<PushConfigOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
}

impl<'a, M> SendRequest<'a, M> {
    pub(in crate::dialect) fn new(sending: &'a SendMessage, message: M) -> Self {
        Self {
            id: sending.task.as_ref().map(|task| match task {
                TaskReference::Existing(task) | TaskReference::ExistingOrNew(task) => task.as_str(),
            }),
            session_id: sending.message.context_id.as_ref().map(|context| context.as_str()),
            message,
            push_notification: sending.push.as_ref().map(PushConfigOut::nameless),
            history_length: sending.history.0,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskRequest<'a> {
    id: &'a TaskName,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetPushRequest<'a> {
    id: &'a TaskName,
    push_notification_config: PushConfigOut<'a>,
}
