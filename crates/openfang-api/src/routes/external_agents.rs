//! `/api/a2a/...`: lists, inspects and changes external agents, and calls agents at URLs.
//!
//! Calls at URLs are calls of the tools `a2a_discover` and `a2a_send`, with the same checks. A body may contain secrets, so
//! errors never quote it.

use axum::Json;
use axum::extract::State;
use openfang_kernel::config_edit::Existing;
use openfang_kernel::external_control::ExternalAgentDetails;
use openfang_kernel::{Caller, Kernel, ToolCall};
use openfang_types::a2a_status::ExternalAgentStatus;
use openfang_types::agent::search::{AgentQuery, FoundAgent};
use openfang_types::api::Removal;
use openfang_types::config::ExternalAgent;
use openfang_types::ids::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller, UnreadBody};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddQuery {
    #[serde(default)]
    replace: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Agents {
    agents: Vec<ExternalAgentStatus>,
    total: usize,
    /// Agents of this server, if there was a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    local: Option<Vec<FoundAgent>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    #[serde(default)]
    query: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct DiscoverBody {
    url: String,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct SendBody {
    url: String,
    message: String,
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct StatusQuery {
    url: String,
}

/// Lists the external agents; with a query those that match, and the local agents that do.
pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(asked): QueryParams<ListQuery>,
) -> Result<Json<Agents>, ApiError> {
    let mut agents = kernel.external_agents(&caller);
    let Some(query) = asked.query else { return Ok(Json(Agents { total: agents.len(), agents, local: None })) };
    let query = AgentQuery::of(&query).map_err(|error| ApiError::bad_request(error.to_string()))?;
    let found = kernel.found_agents(&caller, &query);
    let place = |agent: &ExternalAgentStatus| found.iter().position(|found| found.agent.name == agent.name);
    agents.retain(|agent| place(agent).is_some());
    agents.sort_by_key(place);
    let local = found.into_iter().filter(|found| !found.agent.is_external).collect();
    Ok(Json(Agents { total: agents.len(), agents, local: Some(local) }))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<AgentName>,
) -> Result<Json<ExternalAgentDetails>, ApiError> {
    Ok(Json(kernel.external_agent(&caller, &name)?))
}

pub(super) async fn add(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<AddQuery>,
    JsonBody(body): JsonBody<UnreadBody<ExternalAgent>>,
) -> Result<Json<ExternalAgentDetails>, ApiError> {
    let existing = if query.replace { Existing::Replace } else { Existing::Keep };
    Ok(Json(kernel.add_external_agent(&caller, entry_of(body.into_value())?, existing).await?))
}

pub(super) async fn remove(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<AgentName>,
) -> Result<Json<Removal<AgentName>>, ApiError> {
    kernel.remove_external_agent(&caller, &name).await?;
    Ok(Json(Removal { removed: name }))
}

pub(super) async fn test(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<AgentName>,
) -> Result<Json<ExternalAgentDetails>, ApiError> {
    Ok(Json(kernel.test_external_agent(&caller, &name).await?))
}

pub(super) async fn approve(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<AgentName>,
) -> Result<Json<ExternalAgentDetails>, ApiError> {
    Ok(Json(kernel.accept_external_agent(&caller, &name).await?))
}

pub(super) async fn discover(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(body): JsonBody<DiscoverBody>,
) -> Result<Json<Value>, ApiError> {
    called(&kernel, &caller, "a2a_discover", json!({ "url": body.url })).await
}

pub(super) async fn send(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(body): JsonBody<SendBody>,
) -> Result<Json<Value>, ApiError> {
    let arguments = json!({ "agent_url": body.url, "message": body.message, "session_id": body.session_id });
    called(&kernel, &caller, "a2a_send", arguments).await
}

pub(super) async fn task_status(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(task): PathParam<String>,
    QueryParams(query): QueryParams<StatusQuery>,
) -> Result<Json<Value>, ApiError> {
    called(&kernel, &caller, "a2a_send", json!({ "agent_url": query.url, "task": task })).await
}

/// Calls a tool and returns its result for programs. What the agent at the URL did wrong is a bad gateway.
async fn called(kernel: &Kernel, caller: &Caller, tool: &str, arguments: Value) -> Result<Json<Value>, ApiError> {
    let name = tool.parse().map_err(|_| ApiError::broken())?;
    let output = kernel.execute_tool(caller, ToolCall { name, arguments: arguments.into() }).await?;
    match output.structured_value() {
        Some(value) => Ok(Json(value)),
        None => Err(ApiError::bad_gateway(output.joined_text())),
    }
}

/// Only errors about missing members are passed on: all others quote the body.
fn entry_of(body: Value) -> Result<ExternalAgent, ApiError> {
    serde_json::from_value(body).map_err(|error| {
        let message = error.to_string();
        let why = match message.starts_with("missing field `") {
            true => message,
            false => "it has an unknown or invalid member; see /api/openapi.json".to_owned(),
        };
        ApiError::bad_request(format!("the body is not a valid external agent: {why}"))
    })
}
