//! `/mcp`: every revision on one endpoint; `/sse` and `/messages` for clients of the first one.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::Method;
use openfang_kernel::{Caller, Kernel};
use openfang_mcp::server::http::{HttpBody, HttpRequest};
use openfang_types::principal::Door;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{QueryParams, RequestBody, RequestCaller, whole};
use crate::layers::Front;

/// Where clients of the first revision post to.
const MESSAGES: &str = "/messages";

/// What the endpoint takes.
pub(super) const METHODS: &[Method] = &[Method::POST, Method::GET, Method::DELETE];

/// Not a handler of the router; see [`Handler::Mcp`](super::Handler::Mcp).
pub(crate) async fn endpoint(
    front: &Front,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    // Only if the table wrongly marked it public.
    let Some(caller) = caller else { return ApiError::broken().into_response() };
    let method = request.method();
    // HEAD is a GET without its body, and the endpoint answers it as it answers GET.
    if !METHODS.contains(method) && method != Method::HEAD {
        return ApiError::wrong_method(METHODS).into_response();
    }
    let who = caller.clone();
    match read(front, caller, request).await {
        Ok(request) => answer(&front.kernel, &who, front.mcp.serve_http(request).await),
        Err(error) => error.into_response(),
    }
}

/// Where the servers that this house is connected to are found, each by its name.
pub(super) const GATEWAY: &str = "/mcp/servers/{name}";

/// The server that a path names, if it is the path of one.
pub(crate) fn server_named(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/servers/").filter(|name| !name.is_empty() && !name.contains('/'))
}

/// One MCP server that this house is connected to, in its own words. Not a handler of the router either.
pub(crate) async fn gateway(
    front: &Front,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    let Some(caller) = caller.map(through_mcp) else { return ApiError::broken().into_response() };
    let method = request.method();
    if !METHODS.contains(method) && method != Method::HEAD {
        return ApiError::wrong_method(METHODS).into_response();
    }
    let server = match server_named(request.uri().path()) {
        Some(name) => front.gateways.get(&caller, name).await,
        None => None,
    };
    let Some(server) = server else { return ApiError::no_such_route().into_response() };
    let who = caller.clone();
    match read(front, caller, request).await {
        Ok(request) => answer(&front.kernel, &who, server.serve_http(request).await),
        Err(error) => error.into_response(),
    }
}

pub(super) async fn open_sse(
    Extension(front): Extension<Arc<Front>>,
    RequestCaller(caller): RequestCaller,
) -> Response {
    let who = caller.clone();
    answer(&front.kernel, &who, front.mcp.open_sse(through_mcp(caller), MESSAGES))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Posted {
    session_id: String,
}

pub(super) async fn post_sse(
    Extension(front): Extension<Arc<Front>>,
    RequestCaller(caller): RequestCaller,
    QueryParams(posted): QueryParams<Posted>,
    request: Request,
) -> Result<Response, ApiError> {
    let who = caller.clone();
    let request = read(&front, caller, request).await?;
    Ok(answer(&front.kernel, &who, front.mcp.post_sse(&request, &posted.session_id)))
}

/// Reads the body. Rates count calls, so a batch pays for each of its own.
async fn read(
    front: &Front,
    caller: Caller,
    request: http::Request<impl RequestBody>,
) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let body = whole(body, &head, &front.kernel).await?;
    front.admit_batch(&caller.principal, &body)?;
    Ok(HttpRequest { caller: through_mcp(caller), method: head.method, headers: head.headers, body })
}

fn through_mcp(caller: Caller) -> Caller {
    Caller { door: Door::Mcp, ..caller }
}

/// What stays open ends when the credential it was opened with is revoked.
fn answer(kernel: &Kernel, who: &Caller, response: http::Response<HttpBody>) -> Response {
    response.map(|body| match body {
        HttpBody::Empty => Body::empty(),
        HttpBody::Whole(bytes) => Body::from(bytes),
        HttpBody::Pieces(pieces) => Body::new(pieces),
        HttpBody::Events(events) => {
            let events = events.take_until(kernel.revoked(who).cancelled_owned());
            Body::from_stream(events.map(Ok::<_, std::convert::Infallible>))
        }
    })
}
