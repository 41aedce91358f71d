//! A2A: maps paths to the bindings of the server. The router is not used: `listen_path` moves the paths, some of them
//! have forms no router can match, and the router would add noticeable cost to a small request.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::Method;
use openfang_a2a::server::{HttpBody, HttpRequest};
use openfang_kernel::Caller;
use openfang_kernel::a2a::A2aServer;
use openfang_types::principal::Door;

use super::{Access, Handler, Operation, Route, protocol};
use crate::error::ApiError;
use crate::extract::{RequestBody, whole};
use crate::layers::{Front, Reach};

mod cards;
mod push;
pub(crate) mod refusals;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aDoor {
    /// A binding of the protocol.
    Binding(A2aBinding),
    /// A route that serves cards.
    Card(CardRoute),
    /// Pushes of agents of other servers.
    Push,
}

/// The bindings of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aBinding {
    /// JSON-RPC at the shared endpoint.
    Rpc,
    /// JSON-RPC of one agent.
    AgentRpc,
    /// HTTP+JSON at the shared endpoint.
    Rest,
    /// HTTP+JSON of one agent.
    AgentRest,
    /// Sends a message in OpenFang's own dialect.
    OpenFangSend,
    /// Reads a task in OpenFang's own dialect.
    OpenFangTask,
    /// Cancels a task in OpenFang's own dialect.
    OpenFangCancel,
}

/// A route that serves cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardRoute {
    /// The card of the default agent.
    Card,
    /// The same for clients of 1.0 only.
    Strict,
    /// The card of one agent.
    Agent,
    /// The cards of all agents.
    Agents,
    /// The public keys that cards are signed with.
    Keys,
    /// The extended card, at the path of clients of 0.2.
    Extended,
    /// The list of all agents that the reader is shown, as a catalogue.
    Catalogue,
}

/// A matched path with its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct A2aPath<'p> {
    pub(crate) door: A2aDoor,
    /// The agent in the path.
    agent: Option<&'p str>,
    /// The rest of the path.
    below: &'p str,
}

/// The card path of clients of 0.3 and 1.0.
const CARD: &str = "/.well-known/agent-card.json";
/// Where older ones do.
const OLD_CARD: &str = "/.well-known/agent.json";
/// The extended card path of clients of 0.2: next to the URL in the card.
const EXTENDED: &str = "/agent/authenticatedExtendedCard";
/// Where catalogues of agents are looked for.
const CATALOGUE: &str = "/.well-known/ai-catalog.json";
/// Where some look for them.
const OTHER_CATALOGUE: &str = "/.well-known/ard.json";
/// The path of the public keys that cards are signed with.
const KEYS: &str = "/.well-known/jwks.json";

const POST: &[Method] = &[Method::POST];
const GET: &[Method] = &[Method::GET];
const ALL: &[Method] = &[Method::GET, Method::POST, Method::DELETE];

/// The rows of the table, with the default `listen_path`.
pub(super) fn rows() -> Vec<Route> {
    let route = |path, methods: &'static [Method], access, door: A2aDoor| {
        let operations = methods.iter().map(|method| operation(method, door)).collect();
        Route { path, methods, access, handler: Handler::A2a(door), operations }
    };
    let binding = |path, methods, door| route(path, methods, Access::Credential, A2aDoor::Binding(door));
    let shown = |path, door| route(path, GET, Access::Known, A2aDoor::Card(door));
    vec![
        binding("/a2a", POST, A2aBinding::Rpc),
        binding("/a2a/agents/{name}", POST, A2aBinding::AgentRpc),
        binding("/a2a/rest/{path}", ALL, A2aBinding::Rest),
        binding("/a2a/agents/{name}/{path}", ALL, A2aBinding::AgentRest),
        binding("/a2a/tasks/send", POST, A2aBinding::OpenFangSend),
        binding("/a2a/tasks/{id}", GET, A2aBinding::OpenFangTask),
        binding("/a2a/tasks/{id}/cancel", POST, A2aBinding::OpenFangCancel),
        route("/a2a/agents", GET, Access::Credential, A2aDoor::Card(CardRoute::Agents)),
        route(EXTENDED, GET, Access::Credential, A2aDoor::Card(CardRoute::Extended)),
        shown(OLD_CARD, CardRoute::Card),
        shown(CARD, CardRoute::Card),
        shown("/a2a/strict/.well-known/agent-card.json", CardRoute::Strict),
        shown("/a2a/agents/{name}/.well-known/agent-card.json", CardRoute::Agent),
        shown("/a2a/agents/{name}/.well-known/agent.json", CardRoute::Agent),
        shown(KEYS, CardRoute::Keys),
        shown(CATALOGUE, CardRoute::Catalogue),
        shown(OTHER_CATALOGUE, CardRoute::Catalogue),
        route("/a2a/push/{id}", POST, Access::Public, A2aDoor::Push),
    ]
}

fn operation(method: &Method, door: A2aDoor) -> Operation {
    let summary = match door {
        A2aDoor::Binding(A2aBinding::Rpc) => "send a JSON-RPC request of A2A",
        A2aDoor::Binding(A2aBinding::AgentRpc) => "send a JSON-RPC request of A2A to one agent",
        A2aDoor::Binding(A2aBinding::Rest) => "the HTTP+JSON binding of A2A",
        A2aDoor::Binding(A2aBinding::AgentRest) => "the HTTP+JSON binding of A2A of one agent",
        A2aDoor::Binding(A2aBinding::OpenFangSend) => "send a message to the default agent",
        A2aDoor::Binding(A2aBinding::OpenFangTask) => "show a task",
        A2aDoor::Binding(A2aBinding::OpenFangCancel) => "cancel a task",
        A2aDoor::Card(CardRoute::Card) => "show the card of the default agent",
        A2aDoor::Card(CardRoute::Strict) => "show the card of the default agent, for clients of 1.0 only",
        A2aDoor::Card(CardRoute::Agent) => "show the card of an agent",
        A2aDoor::Card(CardRoute::Agents) => "show the cards of all agents",
        A2aDoor::Card(CardRoute::Keys) => "show the public keys that cards are signed with",
        A2aDoor::Card(CardRoute::Extended) => "show the card of the default agent with all that the caller may use",
        A2aDoor::Card(CardRoute::Catalogue) => "list the agents and MCP servers as an AI catalogue",
        A2aDoor::Push => "tell that a task of an A2A agent has changed",
    };
    protocol(method.clone(), summary)
}

impl<'p> A2aPath<'p> {
    /// Matches a path of A2A.
    pub(crate) fn of(listen_path: &str, method: &Method, path: &'p str) -> Option<Self> {
        let at = |door| Some(Self { door, agent: None, below: "" });
        // Some clients know only the server's address. Browsers ask for pages differently.
        if path == "/" {
            return if *method == Method::POST { at(A2aDoor::Binding(A2aBinding::Rpc)) } else { None };
        }
        match path {
            CARD | OLD_CARD => return at(A2aDoor::Card(CardRoute::Card)),
            CATALOGUE | OTHER_CATALOGUE => return at(A2aDoor::Card(CardRoute::Catalogue)),
            KEYS => return at(A2aDoor::Card(CardRoute::Keys)),
            EXTENDED => return at(A2aDoor::Card(CardRoute::Extended)),
            _ => {}
        }
        let below = path.strip_prefix(listen_path)?;
        match below {
            "/agents" => return at(A2aDoor::Card(CardRoute::Agents)),
            "/strict/.well-known/agent-card.json" => return at(A2aDoor::Card(CardRoute::Strict)),
            "" | "/" => return at(A2aDoor::Binding(A2aBinding::Rpc)),
            "/tasks/send" => return at(A2aDoor::Binding(A2aBinding::OpenFangSend)),
            _ => {}
        }
        if let Some(below) = below.strip_prefix("/rest/") {
            return Some(Self { door: A2aDoor::Binding(A2aBinding::Rest), agent: None, below });
        }
        if let Some(id) = below.strip_prefix("/push/").filter(|id| !id.is_empty() && !id.contains('/')) {
            return Some(Self { door: A2aDoor::Push, agent: None, below: id });
        }
        if let Some(task) = below.strip_prefix("/tasks/").filter(|task| !task.is_empty()) {
            return match task.split_once('/') {
                None => Some(Self { door: A2aDoor::Binding(A2aBinding::OpenFangTask), agent: None, below: task }),
                Some((task, "cancel")) => {
                    Some(Self { door: A2aDoor::Binding(A2aBinding::OpenFangCancel), agent: None, below: task })
                }
                Some(_) => None,
            };
        }
        let agent = below.strip_prefix("/agents/").filter(|agent| !agent.is_empty())?;
        match agent.split_once('/') {
            None | Some((_, "")) => {
                let agent = Some(agent.trim_end_matches('/'));
                Some(Self { door: A2aDoor::Binding(A2aBinding::AgentRpc), agent, below: "" })
            }
            Some((agent, ".well-known/agent-card.json" | ".well-known/agent.json")) => {
                Some(Self { door: A2aDoor::Card(CardRoute::Agent), agent: Some(agent), below: "" })
            }
            Some((agent, below)) => {
                Some(Self { door: A2aDoor::Binding(A2aBinding::AgentRest), agent: Some(agent), below })
            }
        }
    }
}

/// Answers a request to a matched path.
pub(crate) async fn answer(
    front: &Front,
    reach: &Reach,
    caller: Option<Caller>,
    request: http::Request<impl RequestBody>,
) -> Response {
    let uri = request.uri().clone();
    let Some(place) = A2aPath::of(reach.listen_path(), request.method(), uri.path()) else {
        return ApiError::broken().into_response();
    };
    let Some(server) = reach.a2a() else { return ApiError::no_a2a().into_response() };
    if let Some(allowed) = place.door.allowed().filter(|allowed| !takes(allowed, request.method())) {
        return ApiError::wrong_method(allowed).into_response();
    }
    let caller = caller.map(|caller| Caller { door: Door::A2a, ..caller });
    match (place.door, caller) {
        (A2aDoor::Card(shown), caller) => {
            cards::answer(&front.kernel, caller.as_ref(), shown, place.agent, request.headers())
        }
        (A2aDoor::Binding(binding), Some(caller)) => match asked((front, reach), caller, place.agent, request).await {
            Ok(request) => response(served(server, binding, place.below, request).await),
            Err(error) => error.into_response(),
        },
        (A2aDoor::Push, _) => push::answer((front, reach), place.below, request.into_parts()).await,
        // Only a route that is wrongly marked public has no caller.
        (A2aDoor::Binding(_), None) => ApiError::broken().into_response(),
    }
}

/// The error for an unknown path below `listen_path`.
pub(crate) fn nothing_at(front: &Front, path: &str) -> Option<ApiError> {
    let reach = front.reach();
    let listen_path = reach.listen_path();
    let is_below = path.strip_prefix(listen_path).is_some_and(|below| below.starts_with('/'));
    let why = || reach.a2a().map_or_else(ApiError::no_a2a, |_| ApiError::no_such_agent(listen_path));
    is_below.then(why)
}

impl A2aDoor {
    /// The allowed methods; none if the handler decides.
    const fn allowed(self) -> Option<&'static [Method]> {
        match self {
            Self::Card(_) | Self::Binding(A2aBinding::OpenFangTask) => Some(GET),
            Self::Push | Self::Binding(A2aBinding::OpenFangSend | A2aBinding::OpenFangCancel) => Some(POST),
            Self::Binding(A2aBinding::Rpc | A2aBinding::AgentRpc | A2aBinding::Rest | A2aBinding::AgentRest) => None,
        }
    }
}

/// HEAD is allowed where GET is.
fn takes(allowed: &[Method], method: &Method) -> bool {
    allowed.contains(method) || (*method == Method::HEAD && allowed.contains(&Method::GET))
}

async fn asked(
    (front, reach): (&Front, &Reach),
    caller: Caller,
    agent: Option<&str>,
    request: http::Request<impl RequestBody>,
) -> Result<HttpRequest<Caller>, ApiError> {
    let (head, body) = request.into_parts();
    let agent = match agent {
        None => None,
        Some(name) => {
            let none = || ApiError::no_such_agent(reach.listen_path());
            let name = name.parse().map_err(|_| none())?;
            let agent = front.kernel.agent(&caller.principal, &name).map_err(|_| none())?;
            Some(agent.name.clone())
        }
    };
    let body = whole(body, &head, &reach.config().limits).await?;
    Ok(HttpRequest::new(caller, agent, head, body))
}

async fn served(
    server: &A2aServer,
    binding: A2aBinding,
    below: &str,
    request: HttpRequest<Caller>,
) -> http::Response<HttpBody> {
    match binding {
        A2aBinding::Rpc | A2aBinding::AgentRpc => server.rpc(request).await,
        A2aBinding::Rest | A2aBinding::AgentRest => Box::pin(server.rest(request, below)).await,
        A2aBinding::OpenFangSend => Box::pin(server.openfang_send(request)).await,
        A2aBinding::OpenFangTask => Box::pin(server.openfang_get(request, below)).await,
        A2aBinding::OpenFangCancel => Box::pin(server.openfang_cancel(request, below)).await,
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
