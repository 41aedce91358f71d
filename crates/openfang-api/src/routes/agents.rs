//! `/api/agents`: lists the agents a caller may talk to, and sends messages to them, with a single answer or a stream.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use http::HeaderMap;
use http::header::ACCEPT;
use openfang_kernel::{FollowedReply, Kernel};
use openfang_types::api::{AgentList, AgentView, Reply};
use openfang_types::ids::{AgentName, ContextId, MessageId, TaskId};
use openfang_types::task::{Message, Part};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sse;
use crate::error::ApiError;
use crate::extract::{CallerOrUser, JsonBody, PathParam, RequestCaller};
use crate::openapi::{JsonOrEvents, Shaped};

/// A message: a text, or parts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct MessageBody {
    text: Option<String>,
    #[serde(default)]
    parts: Vec<Part>,
    message_id: Option<MessageId>,
    task_id: Option<TaskId>,
    context_id: Option<ContextId>,
    /// The model that answers instead of the agent's, as PROVIDER/MODEL; for the operator.
    model: Option<String>,
    #[serde(default)]
    return_immediately: bool,
}

pub(super) async fn list(State(kernel): State<Kernel>, RequestCaller(caller): RequestCaller) -> Json<AgentList> {
    Json(AgentList { agents: kernel.agents(&caller.principal), failed: kernel.failed_agents(&caller.principal) })
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    PathParam(name): PathParam<AgentName>,
) -> Result<Json<AgentView>, ApiError> {
    let (agent, tools) = kernel.describe_agent(&caller, &name)?;
    Ok(Json(AgentView { agent, tools }))
}

pub(super) async fn message(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<AgentName>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<MessageBody>,
) -> Result<Shaped<JsonOrEvents<Reply>>, ApiError> {
    let returns_immediately = body.return_immediately;
    let message = body.into_message(&kernel);
    if wants_stream(&headers) {
        return Ok(match kernel.send_and_follow(&caller, &name, message).await? {
            FollowedReply::Message(message) => sse::one("reply", &Reply::Message(message)),
            FollowedReply::Stream(stream) => sse::of(*stream, &kernel.config().limits),
        }
        .into());
    }
    let reply = if returns_immediately {
        kernel.submit(&caller, &name, message).await?
    } else {
        kernel.send_message(&caller, &name, message).await?
    };
    Ok(Json(reply).into_response().into())
}

impl MessageBody {
    fn into_message(self, kernel: &Kernel) -> Message {
        let text = self.text.map(Part::text);
        let parts = text.into_iter().chain(self.parts).collect();
        let message = kernel.message_of_parts(self.message_id, parts);
        let message = Message { task_id: self.task_id, context_id: self.context_id, ..message };
        self.model.into_iter().fold(message, Message::with_model)
    }
}

/// Whether a caller takes its answer as a stream of events.
pub(super) fn wants_stream(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"))
}
