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
use crate::layers::{Front, Reach};

mod cards;
pub(crate) mod refusals;

/// The doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aDoor {
    /// Where the protocol is spoken.
    Spoken(Spoken),
    /// Where cards are shown.
    Shown(Shown),
}

/// Where the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// JSON-RPC of the house.
    Rpc,
    /// JSON-RPC of one agent.
    AgentRpc,
    /// HTTP+JSON of the house.
    Rest,
    /// HTTP+JSON of one agent.
    AgentRest,
    /// OpenFang's own way to send.
    OpenFangSend,
    /// OpenFang's own way to look.
    OpenFangTask,
    /// OpenFang's own way to stop.
    OpenFangCancel,
}

/// Where cards are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The card of the agent that answers where none is named.
    Card,
    /// The same, for clients of 1.0 alone.
    Strict,
    /// The card of one agent.
    Agent,
    /// The cards of all agents.
    Agents,
    /// The keys that cards are signed with.
    Keys,
    /// What the caller may use, where clients of 0.2 look for it.
    Extended,
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

/// Where clients of 0.3 and 1.0 look for a card.
const CARD: &str = "/.well-known/agent-card.json";
/// Where older ones do.
const OLD_CARD: &str = "/.well-known/agent.json";
/// Where clients of 0.2 look for a card of what they may use: beside the address that the card names.
const EXTENDED: &str = "/agent/authenticatedExtendedCard";
/// Where the keys are that cards are signed with.
const KEYS: &str = "/.well-known/jwks.json";

const POST: &[Method] = &[Method::POST];
const GET: &[Method] = &[Method::GET];
const ALL: &[Method] = &[Method::GET, Method::POST, Method::DELETE];

/// The rows of the table, with the path that `listen_path` has by default.
pub(super) fn rows() -> Vec<Route> {
    let route = |path, methods, access, door| Route { path, methods, access, handler: Handler::A2a(door) };
    let spoken = |path, methods, door| route(path, methods, Access::Credential, A2aDoor::Spoken(door));
    let shown = |path, door| route(path, GET, Access::Known, A2aDoor::Shown(door));
    vec![
        spoken("/a2a", POST, Spoken::Rpc),
        spoken("/a2a/agents/{name}", POST, Spoken::AgentRpc),
        spoken("/a2a/rest/{path}", ALL, Spoken::Rest),
        spoken("/a2a/agents/{name}/{path}", ALL, Spoken::AgentRest),
        spoken("/a2a/tasks/send", POST, Spoken::OpenFangSend),
        spoken("/a2a/tasks/{id}", GET, Spoken::OpenFangTask),
        spoken("/a2a/tasks/{id}/cancel", POST, Spoken::OpenFangCancel),
        route("/a2a/agents", GET, Access::Credential, A2aDoor::Shown(Shown::Agents)),
        route(EXTENDED, GET, Access::Credential, A2aDoor::Shown(Shown::Extended)),
        shown(OLD_CARD, Shown::Card),
        shown(CARD, Shown::Card),
        shown("/a2a/strict/.well-known/agent-card.json", Shown::Strict),
        shown("/a2a/agents/{name}/.well-known/agent-card.json", Shown::Agent),
        shown("/a2a/agents/{name}/.well-known/agent.json", Shown::Agent),
        shown(KEYS, Shown::Keys),
    ]
}

impl<'p> Place<'p> {
    /// The door that a path leads to, if it is one of A2A's.
    pub(crate) fn of(listen_path: &str, method: &Method, path: &'p str) -> Option<Self> {
        let at = |door| Some(Self { door, agent: None, below: "" });
        // Some clients know the server and not its paths; pages are asked for otherwise.
        if path == "/" {
            return if *method == Method::POST { at(A2aDoor::Spoken(Spoken::Rpc)) } else { None };
        }
        match path {
            CARD | OLD_CARD => return at(A2aDoor::Shown(Shown::Card)),
            KEYS => return at(A2aDoor::Shown(Shown::Keys)),
            EXTENDED => return at(A2aDoor::Shown(Shown::Extended)),
            _ => {}
        }
        let below = path.strip_prefix(listen_path)?;
        match below {
            "/agents" => return at(A2aDoor::Shown(Shown::Agents)),
            "/strict/.well-known/agent-card.json" => return at(A2aDoor::Shown(Shown::Strict)),
            "" | "/" => return at(A2aDoor::Spoken(Spoken::Rpc)),
            "/tasks/send" => return at(A2aDoor::Spoken(Spoken::OpenFangSend)),
            _ => {}
        }
        if let Some(below) = below.strip_prefix("/rest/") {
            return Some(Self { door: A2aDoor::Spoken(Spoken::Rest), agent: None, below });
        }
        if let Some(task) = below.strip_prefix("/tasks/").filter(|task| !task.is_empty()) {
            return match task.split_once('/') {
                None => Some(Self { door: A2aDoor::Spoken(Spoken::OpenFangTask), agent: None, below: task }),
                Some((task, "cancel")) => {
                    Some(Self { door: A2aDoor::Spoken(Spoken::OpenFangCancel), agent: None, below: task })
                }
                Some(_) => None,
            };
        }
        let agent = below.strip_prefix("/agents/").filter(|agent| !agent.is_empty())?;
        match agent.split_once('/') {
            None | Some((_, "")) => {
                let agent = Some(agent.trim_end_matches('/'));
                Some(Self { door: A2aDoor::Spoken(Spoken::AgentRpc), agent, below: "" })
            }
            Some((agent, ".well-known/agent-card.json" | ".well-known/agent.json")) => {
                Some(Self { door: A2aDoor::Shown(Shown::Agent), agent: Some(agent), below: "" })
            }
            Some((agent, below)) => Some(Self { door: A2aDoor::Spoken(Spoken::AgentRest), agent: Some(agent), below }),
        }
    }
}

/// Answers at a door.
pub(crate) async fn answer(
    front: &Front,
    reach: &Reach,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    let uri = request.uri().clone();
    let Some(place) = Place::of(reach.listen_path(), request.method(), uri.path()) else {
        return ApiError::broken().into_response();
    };
    let Some(server) = reach.a2a() else { return ApiError::no_a2a().into_response() };
    if let Some(allowed) = place.door.allowed().filter(|allowed| !takes(allowed, request.method())) {
        return ApiError::wrong_method(allowed).into_response();
    }
    let caller = caller.map(|caller| Caller { door: Door::A2a, ..caller });
    match (place.door, caller) {
        (A2aDoor::Shown(shown), caller) => {
            cards::answer(&front.kernel, caller.as_ref(), shown, place.agent, request.headers())
        }
        (A2aDoor::Spoken(spoken), Some(caller)) => match asked(front, caller, place.agent, request).await {
            Ok(request) => response(served(server, spoken, place.below, request).await),
            Err(error) => error.into_response(),
        },
        // Only a route that was wrongly marked public gets here.
        (A2aDoor::Spoken(_), None) => ApiError::broken().into_response(),
    }
}

/// What is said of a path below `listen_path` that is no door.
pub(crate) fn nothing_at(front: &Front, path: &str) -> Option<ApiError> {
    let reach = front.reach();
    let listen_path = reach.listen_path();
    let is_below = path.strip_prefix(listen_path).is_some_and(|below| below.starts_with('/'));
    let why = || reach.a2a().map_or_else(ApiError::no_a2a, |_| ApiError::no_such_agent(listen_path));
    is_below.then(why)
}

impl A2aDoor {
    /// The methods it takes; none: it says so itself.
    const fn allowed(self) -> Option<&'static [Method]> {
        match self {
            Self::Shown(_) | Self::Spoken(Spoken::OpenFangTask) => Some(GET),
            Self::Spoken(Spoken::OpenFangSend | Spoken::OpenFangCancel) => Some(POST),
            Self::Spoken(Spoken::Rpc | Spoken::AgentRpc | Spoken::Rest | Spoken::AgentRest) => None,
        }
    }
}

/// Who may ask for something may ask for its head.
fn takes(allowed: &[Method], method: &Method) -> bool {
    allowed.contains(method) || (*method == Method::HEAD && allowed.contains(&Method::GET))
}

async fn asked(
    front: &Front,
    caller: Caller,
    agent: Option<&str>,
    request: http::Request<impl RequestBody>,
) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let agent = match agent {
        None => None,
        Some(name) => {
            let none = || ApiError::no_such_agent(front.reach().listen_path());
            let name = name.parse().map_err(|_| none())?;
            let agent = front.kernel.agent(&caller.principal, &name).map_err(|_| none())?;
            Some(agent.name.clone())
        }
    };
    let body = whole(body, &head, &front.kernel).await?;
    Ok(HttpRequest::new(caller, agent, head, body))
}

async fn served(
    server: &A2aServer,
    spoken: Spoken,
    below: &str,
    request: HttpRequest<Caller>,
) -> http::Response<HttpBody> {
    match spoken {
        Spoken::Rpc | Spoken::AgentRpc => server.rpc(request).await,
        Spoken::Rest | Spoken::AgentRest => Box::pin(server.rest(request, below)).await,
        Spoken::OpenFangSend => Box::pin(server.openfang_send(request)).await,
        Spoken::OpenFangTask => Box::pin(server.openfang_get(request, below)).await,
        Spoken::OpenFangCancel => Box::pin(server.openfang_cancel(request, below)).await,
    }
}

fn response(response: http::Response<HttpBody>) -> Response {
    response.map(|body| match body {
        HttpBody::Empty => Body::empty(),
        HttpBody::Whole(bytes) => Body::from(bytes),
        HttpBody::Events(events) => Body::from_stream(events.map(Ok::<_, std::convert::Infallible>)),
    })
}

#[cfg(test)]
#[path = "a2a_tests.rs"]
mod tests;
