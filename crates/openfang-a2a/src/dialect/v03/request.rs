//! Writes requests of 0.2 and 0.3.

use openfang_types::ids::TaskName;
use serde::Serialize;
use serde_json::value::RawValue;

use super::task::MessageOut;
use crate::dialect::Dialect;
use crate::dialect::request::{WriteError, WriteResult, json};
use crate::dialect::write::PushConfigOut;
use crate::operation::{Operation, ReplyMode, Request, SendMessage, TaskReference};

/// The parameters of a method. The extended card has none.
pub(in crate::dialect) fn params(request: &Request) -> WriteResult<Option<Box<RawValue>>> {
    let operation = Dialect::V03.without_tenant(request)?;
    let params = match operation {
        Operation::Send(sending) => json(&SendRequest::new(sending)?),
        Operation::Get { task, history } => json(&TaskRequest { history_length: history.0, ..TaskRequest::new(task) }),
        Operation::Cancel { task } | Operation::Subscribe { task } | Operation::ListPush { task } => {
            json(&TaskRequest::new(task))
        }
        Operation::SetPush { task, config } => json(&SetPushRequest {
            task_id: task.as_ref().ok_or(WriteError::TaskUnnamed)?,
            push_notification_config: PushConfigOut::of(config),
        }),
        Operation::GetPush { task, id } => {
            json(&TaskRequest { push_notification_config_id: id.as_deref(), ..TaskRequest::new(task) })
        }
        Operation::DeletePush { task, id } => {
            json(&TaskRequest { push_notification_config_id: Some(id), ..TaskRequest::new(task) })
        }
        Operation::ExtendedCard => return Ok(None),
        Operation::List(_) => Err(WriteError::NoOperation(Dialect::V03, operation.method())),
    };
    params.map(Some)
}

#[derive(Serialize)]
struct SendRequest<'a> {
    message: MessageOut<'a>,
    configuration: ConfigurationOut<'a>,
}

/// Some agents of 0.2 require the output modes even if the list is empty.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationOut<'a> {
    accepted_output_modes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification_config: Option<PushConfigOut<'a>>,
}

impl<'a> SendRequest<'a> {
    fn new(sending: &'a SendMessage) -> WriteResult<Self> {
        Ok(Self {
            message: MessageOut::sent(&sending.message, continued(Dialect::V03, sending)?),
            configuration: ConfigurationOut {
                accepted_output_modes: &sending.accepted_output_modes,
                blocking: match sending.answer {
                    ReplyMode::Settled => Some(true),
                    ReplyMode::AtOnce => Some(false),
                    ReplyMode::Streaming => None,
                },
                history_length: sending.history.0,
                push_notification_config: sending.push.as_ref().map(PushConfigOut::of),
            },
        })
    }
}

/// The task a message continues. In both forms of 0.3 only the agent names new tasks.
pub(in crate::dialect) fn continued(dialect: Dialect, sending: &SendMessage) -> WriteResult<Option<&str>> {
    match &sending.task {
        None => Ok(None),
        Some(TaskReference::Existing(task)) => Ok(Some(task.as_str())),
        Some(TaskReference::ExistingOrNew(_)) => Err(WriteError::NewTask(dialect)),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskRequest<'a> {
    id: &'a TaskName,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification_config_id: Option<&'a str>,
}

impl<'a> TaskRequest<'a> {
    const fn new(id: &'a TaskName) -> Self {
        Self { id, history_length: None, push_notification_config_id: None }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetPushRequest<'a> {
    task_id: &'a TaskName,
    push_notification_config: PushConfigOut<'a>,
}
