//! `/api/tools`: the tools a caller may use, and calling one.

use axum::Json;
use axum::extract::State;
use openfang_kernel::{Kernel, ToolCall};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ToolName};
use openfang_types::tool::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    agent: Option<AgentName>,
}

#[derive(Serialize)]
pub(super) struct Tools {
    tools: Vec<ToolDefinition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallBody {
    #[serde(default)]
    arguments: Map<String, Value>,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<Tools>, ApiError> {
    Ok(Json(Tools { tools: kernel.available_tools(&caller, query.agent.as_ref())? }))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ToolName>,
) -> Result<Json<ToolDefinition>, ApiError> {
    Ok(Json(kernel.tool(&caller, &name)?))
}

pub(super) async fn call(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ToolName>,
    JsonBody(body): JsonBody<CallBody>,
) -> Result<Json<ToolOutput>, ApiError> {
    let call = ToolCall { name, arguments: Value::Object(body.arguments).into() };
    Ok(Json(kernel.execute_tool(&caller, call).await?))
}
