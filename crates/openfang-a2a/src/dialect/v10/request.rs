//! Writes requests of 1.0.

use openfang_types::ids::TaskName;
use serde::Serialize;
use serde_json::value::RawValue;

use super::encode::PushOut;
use super::task::{MessageOut, state};
use crate::dialect::Dialect;
use crate::dialect::request::{HttpCall, OWN_SEGMENTS, WriteError, WriteResult, json, segment};
use crate::dialect::write::some;
use crate::operation::{ListTasks, Operation, ReplyMode, Request, SendMessage, TaskReference};

/// The parameters of a method.
pub(in crate::dialect) fn params(request: &Request) -> WriteResult<Box<RawValue>> {
    let tenant = request.tenant();
    let task = |task| TaskRequest { tenant, id: task, history_length: None };
    match &request.operation {
        Operation::Send(sending) => json(&SendRequest::new(tenant, sending)?),
        Operation::Get { task: id, history } => json(&TaskRequest { history_length: history.0, ..task(id) }),
        Operation::Cancel { task: id } | Operation::Subscribe { task: id } => json(&task(id)),
        Operation::List(listing) => json(&ListRequest::new(tenant, listing)),
        Operation::SetPush { task, config } => {
            let task = task.as_ref().ok_or(WriteError::TaskUnnamed)?;
            json(&PushOut::of(config, Some(task.as_str())).at(tenant))
        }
        Operation::GetPush { task, id } => {
            let id = id.as_deref().ok_or(WriteError::PushUnnamed(Dialect::V10))?;
            json(&PushRequest { tenant, task_id: task, id: Some(id) })
        }
        Operation::DeletePush { task, id } => json(&PushRequest { tenant, task_id: task, id: Some(id) }),
        Operation::ListPush { task } => json(&PushRequest { tenant, task_id: task, id: None }),
        Operation::ExtendedCard => json(&CardRequest { tenant }),
    }
}

/// The HTTP+JSON form: tenant and names are in the path, everything else is in the body.
pub(in crate::dialect) fn http_call(request: &Request) -> WriteResult<HttpCall> {
    let below = match request.tenant() {
        None => String::new(),
        Some(tenant) if OWN_SEGMENTS.contains(&tenant) => return Err(WriteError::PathSegment(tenant.to_owned())),
        Some(tenant) => format!("{}/", segment(tenant)?),
    };
    let task = |name: &TaskName| Ok(format!("{below}tasks/{}", segment(name.as_str())?));
    let configs = |name: &TaskName| Ok(format!("{}/pushNotificationConfigs", task(name)?));
    let nothing = || CardRequest { tenant: None };
    Ok(match &request.operation {
        Operation::Send(sending) => {
            let verb = if sending.answer == ReplyMode::Streaming { "stream" } else { "send" };
            HttpCall::post(format!("{below}message:{verb}"), &SendRequest::new(None, sending)?)?
        }
        Operation::Get { task: name, history } => {
            HttpCall::get(task(name)?).asking("historyLength", history.0.map(|count| count.to_string()))
        }
        Operation::List(listing) => listed(HttpCall::get(format!("{below}tasks")), listing),
        Operation::Cancel { task: name } => HttpCall::post(format!("{}:cancel", task(name)?), &nothing())?,
        Operation::Subscribe { task: name } => HttpCall::post(format!("{}:subscribe", task(name)?), &nothing())?,
        Operation::SetPush { task: name, config } => {
            let name = name.as_ref().ok_or(WriteError::TaskUnnamed)?;
            HttpCall::post(configs(name)?, &PushOut::of(config, Some(name.as_str())))?
        }
        Operation::GetPush { task: name, id } => {
            let id = id.as_deref().ok_or(WriteError::PushUnnamed(Dialect::V10))?;
            HttpCall::get(format!("{}/{}", configs(name)?, segment(id)?))
        }
        Operation::ListPush { task: name } => HttpCall::get(configs(name)?),
        Operation::DeletePush { task: name, id } => HttpCall::delete(format!("{}/{}", configs(name)?, segment(id)?)),
        Operation::ExtendedCard => HttpCall::get(format!("{below}extendedAgentCard")),
    })
}

/// The filter of a list as a query. 0.3 uses the same parameters.
pub(in crate::dialect) fn listed(call: HttpCall, listing: &ListTasks) -> HttpCall {
    let number = |number: Option<usize>| number.map(|number| number.to_string());
    let since = listing.changed_since.map(|moment| moment.to_string());
    call.asking("contextId", listing.context_id.as_ref().map(|context| context.as_str()))
        .asking("status", listing.state.map(state))
        .asking("pageSize", number(listing.page_size))
        .asking("pageToken", listing.page_token.as_deref())
        .asking("historyLength", number(listing.history.0))
        .asking("statusTimestampAfter", since)
        .asking("includeArtifacts", listing.include_artifacts.then_some("true"))
}

#[derive(Serialize)]
struct SendRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    message: MessageOut<'a>,
    #[serde(skip_serializing_if = "ConfigurationOut::is_empty")]
    configuration: ConfigurationOut<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_output_modes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_push_notification_config: Option<PushOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    return_immediately: bool,
}

impl<'a> SendRequest<'a> {
    fn new(tenant: Option<&'a str>, sending: &'a SendMessage) -> WriteResult<Self> {
        let task = match &sending.task {
            None => None,
            Some(TaskReference::Existing(task)) => Some(task.as_str()),
            Some(TaskReference::ExistingOrNew(_)) => return Err(WriteError::NewTask(Dialect::V10)),
        };
        Ok(Self {
            tenant,
            message: MessageOut::sent(&sending.message, task),
            configuration: ConfigurationOut {
                accepted_output_modes: some(&sending.accepted_output_modes),
                task_push_notification_config: sending.push.as_ref().map(|push| PushOut::of(push, None)),
                history_length: sending.history.0,
                return_immediately: sending.answer == ReplyMode::AtOnce,
            },
        })
    }
}

impl ConfigurationOut<'_> {
    const fn is_empty(&self) -> bool {
        self.accepted_output_modes.is_none()
            && self.task_push_notification_config.is_none()
            && self.history_length.is_none()
            && !self.return_immediately
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    id: &'a TaskName,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PushRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    task_id: &'a TaskName,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

#[derive(Serialize)]
struct CardRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_size: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_timestamp_after: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_artifacts: bool,
}

impl<'a> ListRequest<'a> {
    fn new(tenant: Option<&'a str>, listing: &'a ListTasks) -> Self {
        Self {
            tenant,
            context_id: listing.context_id.as_ref().map(|context| context.as_str()),
            status: listing.state.map(state),
            page_size: listing.page_size,
            page_token: listing.page_token.as_deref(),
            history_length: listing.history.0,
            status_timestamp_after: listing.changed_since.map(|moment| moment.to_string()),
            include_artifacts: listing.include_artifacts,
        }
    }
}
