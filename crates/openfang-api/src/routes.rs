//! The URL table: paths, methods, access and handlers, and nothing else.

use axum::routing::{MethodRouter, delete, get, post};
use http::Method;
use openfang_kernel::Kernel;

use a2a::{A2aBinding, A2aDoor};

pub(crate) mod a2a;
mod agents;
mod config;
mod external_agents;
mod health;
mod keys;
mod login;
pub(crate) mod mcp;
mod mcp_servers;
mod metrics;
mod policy;
mod secrets;
mod sse;
mod tasks;
mod tools;
mod users;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Public,
    /// Anybody. A credential is checked if there is one.
    Known,
    /// Every caller with a credential. If none is configured, every caller over loopback.
    Credential,
    /// Callers with a credential that are not users: the admin and, if no credential is configured, callers over
    /// loopback.
    Admin,
}

/// A row of the table.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) methods: &'static [Method],
    pub(crate) access: Access,
    pub(crate) handler: Handler,
}

pub(crate) enum Handler {
    /// Matched by the router.
    Routed(Box<MethodRouter<Kernel>>),
    /// The MCP endpoint, called without the router, which would add noticeable cost to a small call.
    Mcp,
    /// A door of A2A.
    A2a(A2aDoor),
    /// The endpoint of one MCP server, called without the router for the same reason.
    Gateway,
}

impl Handler {
    /// The A2A binding of the route, if it has one.
    pub(crate) const fn binding(&self) -> Option<A2aBinding> {
        match self {
            Self::A2a(A2aDoor::Binding(binding)) => Some(*binding),
            Self::A2a(A2aDoor::Card(_)) | Self::Routed(_) | Self::Mcp | Self::Gateway => None,
        }
    }
}

pub(crate) fn table() -> Vec<Route> {
    use Access::{Admin, Credential, Public};
    const GET: &[Method] = &[Method::GET];
    const POST: &[Method] = &[Method::POST];
    const GET_POST: &[Method] = &[Method::GET, Method::POST];
    const DELETE: &[Method] = &[Method::DELETE];
    const GET_DELETE: &[Method] = &[Method::GET, Method::DELETE];
    let route =
        |path, methods, access, handler| Route { path, methods, access, handler: Handler::Routed(Box::new(handler)) };
    let mut table = vec![
        route("/health", GET, Public, get(health::show)),
        route("/api/login", POST, Public, post(login::log_in)),
        route("/api/logout", POST, Credential, post(login::log_out)),
        route("/api/me", GET, Credential, get(login::me)),
        route("/metrics", GET, Admin, get(metrics::show)),
        route("/api/agents", GET, Credential, get(agents::list)),
        route("/api/agents/{name}", GET, Credential, get(agents::show)),
        route("/api/agents/{name}/message", POST, Credential, post(agents::message)),
        route("/api/config/status", GET, Admin, get(config::status)),
        route("/api/config/reload", POST, Admin, post(config::reload)),
        route("/api/tools", GET, Credential, get(tools::list)),
        route("/api/tools/{name}", GET_POST, Credential, get(tools::show).post(tools::call)),
        route("/api/tasks", GET, Credential, get(tasks::list)),
        route("/api/tasks/{id}", GET, Credential, get(tasks::show)),
        route("/api/tasks/{id}/cancel", POST, Credential, post(tasks::cancel)),
        route("/api/tasks/{id}/events", GET, Credential, get(tasks::events)),
        route("/api/policy/{agent}/{tool}", GET, Credential, get(policy::explain)),
        route("/api/users", GET_POST, Credential, get(users::list).post(users::add)),
        route("/api/users/{name}", DELETE, Credential, delete(users::remove)),
        route("/api/users/{name}/grants", POST, Credential, post(users::set_grants)),
        route("/api/users/{name}/password", POST, Credential, post(users::set_password)),
        route("/api/keys", GET_POST, Credential, get(keys::list).post(keys::create)),
        route("/api/keys/{id}", DELETE, Credential, delete(keys::revoke)),
        route("/api/secrets", GET_POST, Credential, get(secrets::list).post(secrets::set)),
        route("/api/secrets/{name}", DELETE, Credential, delete(secrets::remove)),
        route("/api/secrets/{name}/allow", POST, Credential, post(secrets::allow)),
        route("/api/mcp/servers", GET_POST, Credential, get(mcp_servers::list).post(mcp_servers::add)),
        route("/api/mcp/servers/{name}", GET_DELETE, Credential, get(mcp_servers::show).delete(mcp_servers::remove)),
        route("/api/mcp/servers/{name}/restart", POST, Credential, post(mcp_servers::restart)),
        route("/api/mcp/servers/{name}/test", POST, Credential, post(mcp_servers::test)),
        route("/api/mcp/servers/{name}/approve", POST, Credential, post(mcp_servers::approve)),
        route("/api/mcp/servers/{name}/review", GET, Credential, get(mcp_servers::review)),
        route("/api/mcp/servers/{name}/settings", POST, Credential, post(mcp_servers::set)),
        route("/api/mcp/servers/{name}/log", GET, Credential, get(mcp_servers::log)),
        route("/api/a2a/agents", GET_POST, Credential, get(external_agents::list).post(external_agents::add)),
        route(
            "/api/a2a/agents/{name}",
            GET_DELETE,
            Credential,
            get(external_agents::show).delete(external_agents::remove),
        ),
        route("/api/a2a/agents/{name}/refresh", POST, Credential, post(external_agents::test)),
        route("/api/a2a/agents/{name}/test", POST, Credential, post(external_agents::test)),
        route("/api/a2a/agents/{name}/approve", POST, Credential, post(external_agents::approve)),
        route("/api/a2a/discover", POST, Credential, post(external_agents::discover)),
        route("/api/a2a/send", POST, Credential, post(external_agents::send)),
        route("/api/a2a/tasks/{id}/status", GET, Credential, get(external_agents::task_status)),
        Route { path: "/mcp", methods: mcp::METHODS, access: Credential, handler: Handler::Mcp },
        Route { path: mcp::GATEWAY, methods: mcp::METHODS, access: Credential, handler: Handler::Gateway },
        route("/sse", GET, Credential, get(mcp::open_sse)),
        route("/messages", POST, Credential, post(mcp::post_sse)),
    ];
    table.extend(a2a::rows());
    table
}
