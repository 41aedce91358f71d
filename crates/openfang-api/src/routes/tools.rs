//! `/api/tools`: the tools a caller may use, and calling one.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use http::HeaderMap;
use openfang_kernel::{Kernel, ToolCall};
use openfang_types::api::ToolList;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ToolName};
use openfang_types::tool::ToolDefinition;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::agents::wants_stream;
use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller};
use crate::openapi::{JsonOrEvents, Shaped};

mod calling;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    agent: Option<AgentName>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallBody {
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Answers to what an earlier call with the same arguments asked, by key.
    #[serde(default)]
    answers: BTreeMap<String, Box<RawValue>>,
    /// What came with the questions.
    state: Option<String>,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<ToolList>, ApiError> {
    Ok(Json(ToolList { tools: kernel.available_tools(&caller, query.agent.as_ref())? }))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ToolName>,
) -> Result<Json<ToolDefinition>, ApiError> {
    Ok(Json(kernel.tool(&caller, &name)?))
}

/// Calls a tool. A caller that takes a stream hears how the call goes, and can be asked.
pub(super) async fn call(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<ToolName>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CallBody>,
) -> Result<Shaped<JsonOrEvents<ToolOutput>>, ApiError> {
    let arguments = Value::Object(body.arguments);
    if wants_stream(&headers) {
        let answered = body.state.map(|state| (body.answers, state));
        return calling::stream(kernel, caller, (name, arguments), answered).await.map(Into::into);
    }
    let call = ToolCall { name, arguments: arguments.into() };
    Ok(Json(kernel.execute_tool(&caller, call).await?).into_response().into())
}
