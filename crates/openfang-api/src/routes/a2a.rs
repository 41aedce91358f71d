//! A2A: which path is which door of the server. Not handlers of the router: `listen_path` moves them, their paths have
//! forms that no router matches, and a small send would feel every box on the way.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::Method;
use openfang_a2a::server::{HttpBody, HttpRequest};
use openfang_kernel::Caller;
use openfang_kernel::a2a::A2aServer;
use openfang_types::principal::Door;

use super::{Access, Handler, Route};
use crate::error::ApiError;
use crate::extract::{RequestBody, whole};
use crate::layers::Front;

/// The doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aDoor {
    /// JSON-RPC of the house.
    Rpc,
    /// JSON-RPC of one agent.
    AgentRpc,
    /// HTTP+JSON of the house.
    Rest,
    /// HTTP+JSON of one agent.
    AgentRest,
    /// The seeds' way to send.
    SeedSend,
    /// The seeds' way to look.
    SeedTask,
    /// The seeds' way to stop.
    SeedCancel,
}

/// A door, with what the path says besides.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place<'p> {
    pub(crate) door: A2aDoor,
    /// The agent that the path names.
    agent: Option<&'p str>,
    /// What stands below the door.
    below: &'p str,
}

const POST: &[Method] = &[Method::POST];
const GET: &[Method] = &[Method::GET];
const ALL: &[Method] = &[Method::GET, Method::POST, Method::DELETE];

/// The rows of the table, with the path that `listen_path` has by default.
pub(super) fn rows() -> Vec<Route> {
    use A2aDoor::{AgentRest, AgentRpc, Rest, Rpc, SeedCancel, SeedSend, SeedTask};
    let row = |path, methods, door| Route { path, methods, access: Access::Credential, handler: Handler::A2a(door) };
    vec![
        row("/a2a", POST, Rpc),
        row("/a2a/agents/{name}", POST, AgentRpc),
        row("/a2a/rest/{path}", ALL, Rest),
        row("/a2a/agents/{name}/{path}", ALL, AgentRest),
        row("/a2a/tasks/send", POST, SeedSend),
        row("/a2a/tasks/{id}", GET, SeedTask),
        row("/a2a/tasks/{id}/cancel", POST, SeedCancel),
    ]
}

impl<'p> Place<'p> {
    /// The door that a path leads to, if it is one of A2A's.
    pub(crate) fn of(listen_path: &str, method: &Method, path: &'p str) -> Option<Self> {
        let at = |door| Some(Self { door, agent: None, below: "" });
        // Some clients know the server and not its paths; pages are asked for otherwise.
        if path == "/" {
            return if *method == Method::POST { at(A2aDoor::Rpc) } else { None };
        }
        let below = path.strip_prefix(listen_path)?;
        match below {
            "" | "/" => return at(A2aDoor::Rpc),
            "/tasks/send" => return at(A2aDoor::SeedSend),
            _ => {}
        }
        if let Some(below) = below.strip_prefix("/rest/") {
            return Some(Self { door: A2aDoor::Rest, agent: None, below });
        }
        if let Some(task) = below.strip_prefix("/tasks/").filter(|task| !task.is_empty()) {
            return match task.split_once('/') {
                None => Some(Self { door: A2aDoor::SeedTask, agent: None, below: task }),
                Some((task, "cancel")) => Some(Self { door: A2aDoor::SeedCancel, agent: None, below: task }),
                Some(_) => None,
            };
        }
        let agent = below.strip_prefix("/agents/").filter(|agent| !agent.is_empty())?;
        match agent.split_once('/') {
            None | Some((_, "")) => {
                let agent = Some(agent.trim_end_matches('/'));
                Some(Self { door: A2aDoor::AgentRpc, agent, below: "" })
            }
            Some((_, below)) if below.starts_with(".well-known/") => None,
            Some((agent, below)) => Some(Self { door: A2aDoor::AgentRest, agent: Some(agent), below }),
        }
    }
}

/// Answers at a door.
pub(crate) async fn answer(
    front: &Front,
    listen_path: &str,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    let uri = request.uri().clone();
    let place = Place::of(listen_path, request.method(), uri.path());
    let (Some(caller), Some(place)) = (caller.map(through_a2a), place) else {
        return ApiError::broken().into_response();
    };
    let Some(server) = &front.a2a else { return ApiError::no_a2a().into_response() };
    match asked(front, caller, &place, request).await {
        Ok(request) => shown(served(server, place, request).await),
        Err(error) => error.into_response(),
    }
}

async fn asked(
    front: &Front,
    caller: Caller,
    place: &Place<'_>,
    request: http::Request<impl RequestBody>,
) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let agent = match place.agent {
        None => None,
        Some(name) => {
            let name = name.parse().map_err(|_| ApiError::no_such_route())?;
            let agent = front.kernel.agent(&caller.principal, &name).map_err(|_| ApiError::no_such_route())?;
            Some(agent.name.clone())
        }
    };
    let allowed = match place.door {
        A2aDoor::SeedSend | A2aDoor::SeedCancel => Some(POST),
        A2aDoor::SeedTask => Some(GET),
        // They say themselves what they take.
        A2aDoor::Rpc | A2aDoor::AgentRpc | A2aDoor::Rest | A2aDoor::AgentRest => None,
    };
    if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(&head.method)) {
        return Err(ApiError::wrong_method(allowed));
    }
    let body = whole(body, &front.kernel).await?;
    let query = head.uri.query().map(str::to_owned);
    Ok(HttpRequest { caller, agent, method: head.method, query, headers: head.headers, body })
}

async fn served(server: &A2aServer, place: Place<'_>, request: HttpRequest<Caller>) -> http::Response<HttpBody> {
    match place.door {
        A2aDoor::Rpc | A2aDoor::AgentRpc => server.rpc(request).await,
        A2aDoor::Rest | A2aDoor::AgentRest => server.rest(request, place.below).await,
        A2aDoor::SeedSend => server.seed_send(request).await,
        A2aDoor::SeedTask => server.seed_get(request, place.below).await,
        A2aDoor::SeedCancel => server.seed_cancel(request, place.below).await,
    }
}

fn through_a2a(caller: Caller) -> Caller {
    Caller { door: Door::A2a, ..caller }
}

fn shown(response: http::Response<HttpBody>) -> Response {
    response.map(|body| match body {
        HttpBody::Empty => Body::empty(),
        HttpBody::Whole(bytes) => Body::from(bytes),
        HttpBody::Events(events) => Body::from_stream(events.map(Ok::<_, std::convert::Infallible>)),
    })
}

#[cfg(test)]
#[path = "a2a_tests.rs"]
mod tests;
