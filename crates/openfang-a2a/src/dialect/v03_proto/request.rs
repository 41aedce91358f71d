//! Writes requests of 0.3 on HTTP+JSON.

use openfang_types::ids::TaskName;
use serde::Serialize;

use super::CONFIGS;
use super::task::MessageOut;
use crate::dialect::Dialect;
use crate::dialect::request::{HttpCall, WriteError, WriteResult, segment};
use crate::dialect::v03::continued;
use crate::dialect::v10::listed;
use crate::dialect::write::{EmptyObject, PushConfigOut, some};
use crate::operation::{Operation, PushNotificationConfig, ReplyMode, Request, SendMessage};

pub(in crate::dialect) fn http_call(request: &Request) -> WriteResult<HttpCall> {
    let task = |name: &TaskName| Ok(format!("v1/tasks/{}", segment(name.as_str())?));
    let configs = |name: &TaskName| Ok(format!("{}/pushNotificationConfigs", task(name)?));
    Ok(match Dialect::V03Proto.without_tenant(request)? {
        Operation::Send(sending) => {
            let verb = if sending.answer == ReplyMode::Streaming { "stream" } else { "send" };
            HttpCall::post(format!("v1/message:{verb}"), &SendRequest::new(sending)?)?
        }
        Operation::Get { task: name, history } => {
            HttpCall::get(task(name)?).asking("historyLength", history.0.map(|count| count.to_string()))
        }
        Operation::List(listing) => listed(HttpCall::get("v1/tasks".to_owned()), listing),
        Operation::Cancel { task: name } => HttpCall::post(format!("{}:cancel", task(name)?), &EmptyObject {})?,
        Operation::Subscribe { task: name } => HttpCall::get(format!("{}:subscribe", task(name)?)),
        Operation::SetPush { task: name, config } => {
            let name = name.as_ref().ok_or(WriteError::TaskUnnamed)?;
            HttpCall::post(configs(name)?, &SetPushRequest::new(name, config))?
        }
        Operation::GetPush { task: name, id } => {
            let id = id.as_deref().ok_or(WriteError::PushUnnamed(Dialect::V03Proto))?;
            HttpCall::get(format!("{}/{}", configs(name)?, segment(id)?))
        }
        Operation::ListPush { task: name } => HttpCall::get(configs(name)?),
        Operation::DeletePush { task: name, id } => HttpCall::delete(format!("{}/{}", configs(name)?, segment(id)?)),
        Operation::ExtendedCard => HttpCall::get("v1/card".to_owned()),
    })
}

#[derive(Serialize)]
struct SendRequest<'a> {
    message: MessageOut<'a>,
    configuration: ConfigurationOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_output_modes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notification: Option<PushConfigOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    blocking: bool,
}

impl<'a> SendRequest<'a> {
    fn new(sending: &'a SendMessage) -> WriteResult<Self> {
        Ok(Self {
            message: MessageOut::sent(&sending.message, continued(Dialect::V03Proto, sending)?),
            configuration: ConfigurationOut {
                accepted_output_modes: some(&sending.accepted_output_modes),
                push_notification: sending.push.as_ref().map(PushConfigOut::of),
                history_length: sending.history.0,
                blocking: sending.answer == ReplyMode::Settled,
            },
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetPushRequest<'a> {
    parent: String,
    /// Empty lets the agent choose an id.
    config_id: &'a str,
    config: TaskConfigOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskConfigOut<'a> {
    name: String,
    push_notification_config: PushConfigOut<'a>,
}

impl<'a> SetPushRequest<'a> {
    fn new(task: &TaskName, config: &'a PushNotificationConfig) -> Self {
        let (parent, id) = (format!("tasks/{task}"), config.id.as_deref());
        let name = id.map_or_else(|| parent.clone(), |id| format!("{parent}{CONFIGS}{id}"));
        Self {
            parent,
            config_id: id.unwrap_or_default(),
            config: TaskConfigOut { name, push_notification_config: PushConfigOut::of(config) },
        }
    }
}
