//! `/mcp`: every revision on one endpoint; `/sse` and `/messages` for clients of the first one.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use futures_util::StreamExt as _;
use openfang_kernel::gateway::Gateways;
use openfang_kernel::mcp::McpServer;
use openfang_kernel::{Caller, Kernel};
use openfang_mcp::server::http::{HttpBody, HttpRequest};
use openfang_types::principal::Door;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{Asked, Who, whole};

/// Where clients of the first revision post to.
const MESSAGES: &str = "/messages";

pub(super) async fn endpoint(
    State(kernel): State<Kernel>,
    Extension(mcp): Extension<McpServer>,
    Who(caller): Who,
    request: Request,
) -> Result<Response, ApiError> {
    Ok(answer(mcp.serve_http(read(&kernel, caller, request).await?).await))
}

/// `/mcp/servers/{name}`: one MCP server that this house is connected to, in its own words.
pub(super) async fn gateway(
    State(kernel): State<Kernel>,
    Extension(gateways): Extension<Arc<Gateways>>,
    Who(caller): Who,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let caller = through_mcp(caller);
    let server = gateways.get(&caller, &name).await.ok_or_else(ApiError::no_such_route)?;
    Ok(answer(server.serve_http(read(&kernel, caller, request).await?).await))
}

pub(super) async fn open_sse(Extension(mcp): Extension<McpServer>, Who(caller): Who) -> Response {
    answer(mcp.open_sse(through_mcp(caller), MESSAGES))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Posted {
    session_id: String,
}

pub(super) async fn post_sse(
    State(kernel): State<Kernel>,
    Extension(mcp): Extension<McpServer>,
    Who(caller): Who,
    Asked(posted): Asked<Posted>,
    request: Request,
) -> Result<Response, ApiError> {
    let request = read(&kernel, caller, request).await?;
    Ok(answer(mcp.post_sse(&request, &posted.session_id)))
}

async fn read(kernel: &Kernel, caller: Caller, request: Request) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let body = whole(body, kernel).await?;
    Ok(HttpRequest { caller: through_mcp(caller), method: head.method, headers: head.headers, body })
}

fn through_mcp(caller: Caller) -> Caller {
    Caller { door: Door::Mcp, ..caller }
}

fn answer(response: http::Response<HttpBody>) -> Response {
    response.map(|body| match body {
        HttpBody::Empty => Body::empty(),
        HttpBody::Whole(bytes) => Body::from(bytes),
        HttpBody::Pieces(pieces) => Body::new(pieces),
        HttpBody::Events(events) => Body::from_stream(events.map(Ok::<_, std::convert::Infallible>)),
    })
}
