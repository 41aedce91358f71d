//! `/api/mcp/servers`: lists, inspects and changes MCP servers.
//!
//! A body may contain secrets, so errors never quote it.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_kernel::config_edit::Existing;
use openfang_kernel::mcp_control::{McpServerDetails, McpServerView, McpServers, McpTested};
use openfang_types::api::{AcceptedTools, LogLines, Removal};
use openfang_types::config::{McpServerConfigEntry, McpServerSettings};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpReview;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller, UnreadBody};

/// The accepted values of each member, for error messages.
const MEMBERS: [(&str, &str); 8] = [
    ("name", "use up to 64 letters, digits, and . _ -, a letter or digit first"),
    ("transport", "it is {type: \"stdio\", command, args} or {type: \"http\" or \"sse\", url, headers}"),
    ("env", "it is a list of NAME or NAME=value"),
    ("enabled", "it is true or false"),
    ("cwd", "it is an absolute path"),
    ("tools", "it is {include, exclude}, lists of patterns of the server's own tool names"),
    ("timeout_secs", "it is a number of seconds"),
    ("startup_timeout_secs", "it is a number of seconds"),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddQuery {
    #[serde(default)]
    replace: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveBody {
    tool: Option<String>,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<McpServers>, ApiError> {
    Ok(Json(kernel.mcp_servers(&caller)?))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<McpServerDetails>, ApiError> {
    Ok(Json(kernel.mcp_server_details(&caller, &name)?))
}

pub(super) async fn add(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<AddQuery>,
    JsonBody(body): JsonBody<UnreadBody<McpServerConfigEntry>>,
) -> Result<Json<McpServerDetails>, ApiError> {
    let existing = if query.replace { Existing::Replace } else { Existing::Keep };
    Ok(Json(kernel.add_mcp_server(&caller, entry_of(body.into_value())?, existing).await?))
}

pub(super) async fn remove(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<Removal<ServerName>>, ApiError> {
    kernel.remove_mcp_server(&caller, &name).await?;
    Ok(Json(Removal { removed: name }))
}

pub(super) async fn restart(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<McpServerView>, ApiError> {
    Ok(Json(kernel.restart_mcp_server(&caller, &name).await?))
}

pub(super) async fn test(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<McpTested>, ApiError> {
    Ok(Json(kernel.test_mcp_server(&caller, &name).await?))
}

pub(super) async fn approve(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
    JsonBody(body): JsonBody<ApproveBody>,
) -> Result<Json<AcceptedTools>, ApiError> {
    Ok(Json(AcceptedTools { approved: kernel.approve_mcp_tools(&caller, &name, body.tool).await? }))
}

pub(super) async fn set(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
    JsonBody(settings): JsonBody<McpServerSettings>,
) -> Result<Json<McpServerDetails>, ApiError> {
    Ok(Json(kernel.set_mcp_server(&caller, &name, settings).await?))
}

pub(super) async fn review(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<McpReview>, ApiError> {
    Ok(Json(kernel.mcp_review(&caller, &name)?))
}

pub(super) async fn log(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ServerName>,
) -> Result<Json<LogLines>, ApiError> {
    Ok(Json(LogLines { lines: kernel.mcp_server_log(&caller, &name)? }))
}

/// Only errors about missing members are passed on: all others quote the body.
fn entry_of(body: Value) -> Result<McpServerConfigEntry, ApiError> {
    serde_path_to_error::deserialize(body).map_err(|error| {
        let message = error.inner().to_string();
        let member = error.path().iter().next().map(ToString::to_string).unwrap_or_default();
        let takes = MEMBERS.iter().find(|(name, _)| *name == member);
        let why = match takes {
            _ if message.starts_with("missing field `") => message,
            Some((name, takes)) => format!("invalid {name}: {takes}"),
            None => "it has an unknown or invalid member; see the JSON Schema of the configuration".to_owned(),
        };
        ApiError::bad_request(format!("the body is not a valid server entry: {why}"))
    })
}

#[cfg(test)]
#[path = "mcp_servers_tests.rs"]
mod tests;
