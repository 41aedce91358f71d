//! `/mcp`: all revisions at one endpoint; `/sse` and `/messages` for clients of the first revision.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, Request};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::Method;
use openfang_kernel::mcp::{McpServer, View};
use openfang_kernel::{Caller, Kernel};
use openfang_mcp::server::http::{HttpBody, HttpRequest};
use openfang_types::ids::{AgentName, ProfileName};
use openfang_types::principal::Door;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{QueryParams, RequestBody, RequestCaller, whole};
use crate::layers::{Front, Reach};
use crate::openapi::{Accepted, Events, Shaped};

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
    let narrowed = match request.uri().query() {
        Some(query) => Narrowing::of(query).and_then(|asked| asked.applied(front, caller)),
        None => Ok((caller, None)),
    };
    let (caller, narrowed) = match narrowed {
        Ok(narrowed) => narrowed,
        Err(error) => return error.into_response(),
    };
    let server = narrowed.as_ref().unwrap_or(&front.mcp);
    let who = caller.clone();
    match read(reach, caller, request).await {
        Ok(request) => answer(&front.kernel, &who, server.serve_http(request).await),
        Err(error) => error.into_response(),
    }
}

/// What a query leaves out: `tools=false` the tools, `agent=NAME` all but that agent and the tools that it can use,
/// `profile=NAME` what the profile does not have. `lazy=true` lists two tools, with which the others are found and called. Other
/// members of the query mean nothing here.
#[derive(Default)]
struct Narrowing {
    agent: Option<AgentName>,
    tools: Option<bool>,
    profile: Option<ProfileName>,
    lazy: Option<bool>,
}

impl Narrowing {
    fn of(query: &str) -> Result<Self, ApiError> {
        let unreadable = |name: &str| {
            ApiError::bad_request(format!(
                "the query {name} comes once: agent=NAME, tools=false, profile=NAME, lazy=true"
            ))
        };
        let mut asked = Self::default();
        for (name, value) in query.split('&').filter_map(|member| member.split_once('=')) {
            let is_new = match name {
                "agent" => asked.agent.replace(value.parse().map_err(|_| unreadable(name))?).is_none(),
                "tools" => asked.tools.replace(value.parse().map_err(|_| unreadable(name))?).is_none(),
                "lazy" => asked.lazy.replace(value.parse().map_err(|_| unreadable(name))?).is_none(),
                "profile" => asked.profile.replace(value.parse().map_err(|_| unreadable(name))?).is_none(),
                _ => true,
            };
            if !is_new {
                return Err(unreadable(name));
            }
        }
        Ok(asked)
    }

    /// The narrowed caller, and the server of a view that shows less than everything, if one is asked for.
    fn applied(self, front: &Front, caller: Caller) -> Result<(Caller, Option<McpServer>), ApiError> {
        let caller = narrowed(&front.kernel, caller, self.profile.as_ref())?;
        let is_lazy = self.lazy.unwrap_or(false);
        let view = match (self.agent, self.tools.unwrap_or(true)) {
            (Some(name), tools) => View::Agent { name, tools },
            (None, false) => View::Agents,
            (None, true) if is_lazy => View::Everything,
            (None, true) => return Ok((caller, None)),
        };
        let view = if is_lazy { View::Lazy(Box::new(view)) } else { view };
        let server = front.mcp_views.get(&caller, view)?;
        Ok((caller, Some(server)))
    }
}

fn narrowed(kernel: &Kernel, caller: Caller, profile: Option<&ProfileName>) -> Result<Caller, ApiError> {
    match profile {
        Some(profile) => Ok(kernel.narrowed(caller, profile)?),
        None => Ok(caller),
    }
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
    let asked = Narrowing::of(request.uri().query().unwrap_or_default());
    let caller = match asked.and_then(|asked| narrowed(&front.kernel, caller, asked.profile.as_ref())) {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
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
    RawQuery(query): RawQuery,
) -> Shaped<Events> {
    // Messages of this transport go to another path, which has no query.
    let asked = Narrowing::of(query.as_deref().unwrap_or_default());
    if asked.is_ok_and(|asked| asked.profile.is_some() || asked.lazy == Some(true)) {
        return ApiError::bad_request(
            "/sse has no profiles and shows all tools; connect to /mcp?profile=NAME or /mcp?lazy=true",
        )
        .into_response()
        .into();
    }
    let who = caller.clone();
    answer(&front.kernel, &who, front.mcp.open_sse(through_mcp(caller), MESSAGES)).into()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Posted {
    session_id: String,
}

pub(super) async fn post_sse(
    Extension(front): Extension<Arc<Front>>,
    RequestCaller(caller): RequestCaller,
    QueryParams(posted): QueryParams<Posted>,
    request: Request,
) -> Result<Shaped<Accepted>, ApiError> {
    let who = caller.clone();
    let request = read(&front.reach(), caller, request).await?;
    Ok(answer(&front.kernel, &who, front.mcp.post_sse(&request, &posted.session_id)).into())
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
