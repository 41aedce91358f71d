//! `/mcp`: all revisions at one endpoint; `/sse` and `/messages` for clients of the first revision.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::Method;
use openfang_kernel::mcp::{McpServer, View};
use openfang_kernel::{Caller, Kernel};
use openfang_mcp::server::http::{HttpBody, HttpRequest};
use openfang_types::ids::AgentName;
use openfang_types::principal::Door;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{QueryParams, RequestBody, RequestCaller, whole};
use crate::layers::{Front, Reach};

/// The message endpoint of the first revision.
const MESSAGES: &str = "/messages";

/// The methods of the endpoint.
pub(super) const METHODS: &[Method] = &[Method::POST, Method::GET, Method::DELETE];

/// Not a handler of the router; see [`Handler::Mcp`](super::Handler::Mcp).
pub(crate) async fn endpoint(
    front: &Front,
    reach: &Reach,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    // Only if the table wrongly marks it public.
    let Some(caller) = caller else { return ApiError::broken().into_response() };
    let method = request.method();
    // HEAD is answered like GET, without the body.
    if !METHODS.contains(method) && method != Method::HEAD {
        return ApiError::wrong_method(METHODS).into_response();
    }
    let narrowed = match request.uri().query().map(|query| narrowed(front, &caller, query)).transpose() {
        Ok(narrowed) => narrowed.flatten(),
        Err(error) => return error.into_response(),
    };
    let server = narrowed.as_ref().unwrap_or(&front.mcp);
    let who = caller.clone();
    match read(reach, caller, request).await {
        Ok(request) => answer(&front.kernel, &who, server.serve_http(request).await),
        Err(error) => error.into_response(),
    }
}

/// The server of a view that shows less than everything, if the query asks for one: `tools=false` leaves out the tools,
/// `agent=NAME` shows that agent only, and the tools that it can use. Other members of the query mean nothing here.
fn narrowed(front: &Front, caller: &Caller, query: &str) -> Result<Option<McpServer>, ApiError> {
    let unreadable =
        |name: &str| ApiError::bad_request(format!("the query {name} comes once: agent=NAME, tools=false"));
    let (mut agent, mut tools) = (None, None);
    for (name, value) in query.split('&').filter_map(|member| member.split_once('=')) {
        let is_new = match name {
            "agent" => agent.replace(value.parse::<AgentName>().map_err(|_| unreadable("agent"))?).is_none(),
            "tools" => tools.replace(value.parse::<bool>().map_err(|_| unreadable("tools"))?).is_none(),
            _ => true,
        };
        if !is_new {
            return Err(unreadable(name));
        }
    }
    let view = match (agent, tools.unwrap_or(true)) {
        (Some(name), tools) => View::Agent { name, tools },
        (None, false) => View::Agents,
        (None, true) => return Ok(None),
    };
    Ok(Some(front.mcp_views.get(caller, view)?))
}

/// The path of each connected MCP server.
pub(super) const GATEWAY: &str = "/mcp/servers/{name}";

/// The server in the path, if it is the path of one.
pub(crate) fn server_named(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/servers/").filter(|name| !name.is_empty() && !name.contains('/'))
}

/// The endpoint of one connected MCP server. Not a handler of the router either.
pub(crate) async fn gateway(
    front: &Front,
    reach: &Reach,
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
    match read(reach, caller, request).await {
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
    let request = read(&front.reach(), caller, request).await?;
    Ok(answer(&front.kernel, &who, front.mcp.post_sse(&request, &posted.session_id)))
}

/// Reads the body. Rate limits count calls, so a batch is charged for each of its calls.
async fn read(
    reach: &Reach,
    caller: Caller,
    request: http::Request<impl RequestBody>,
) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let body = whole(body, &head, &reach.config().limits).await?;
    reach.admit_batch(&caller.principal, &body)?;
    Ok(HttpRequest { caller: through_mcp(caller), method: head.method, headers: head.headers, body })
}

fn through_mcp(caller: Caller) -> Caller {
    Caller { door: Door::Mcp, ..caller }
}

/// Open streams end when their credential is revoked.
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
