//! The URL table: paths, methods, access, handlers and what each is for, and nothing else.

use axum::handler::Handler as AxumHandler;
use axum::routing::{MethodRouter, delete, get, post};
use http::Method;
use openfang_kernel::Kernel;

use crate::openapi::{AnyJson, Describe, DescribeAnswer as _, Documented, Events};

use a2a::{A2aBinding, A2aDoor};

pub(crate) mod a2a;
mod agents;
mod approvals;
mod config;
mod events;
mod external_agents;
mod health;
mod keys;
mod login;
pub(crate) mod mcp;
mod mcp_servers;
mod metrics;
mod models;
mod policy;
mod schedules;
mod secrets;
mod skills;
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
    /// What each method does, for the OpenAPI document.
    pub(crate) operations: Vec<Operation>,
}

/// What a method of a route does.
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) summary: &'static str,
    pub(crate) describe: Describe,
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
            Self::A2a(A2aDoor::Card(_) | A2aDoor::Push) | Self::Routed(_) | Self::Mcp | Self::Gateway => None,
        }
    }
}

const GET: &[Method] = &[Method::GET];
const POST: &[Method] = &[Method::POST];
const DELETE: &[Method] = &[Method::DELETE];
const GET_POST: &[Method] = &[Method::GET, Method::POST];
const GET_DELETE: &[Method] = &[Method::GET, Method::DELETE];

/// A method of a route, its handler, and what it does in a few words.
type RoutedMethod = (&'static [Method], MethodRouter<Kernel>, Operation);

fn reads<H, T: 'static, D>(handler: H, summary: &'static str) -> RoutedMethod
where
    H: AxumHandler<T, Kernel> + Documented<D>,
{
    (GET, get(handler), Operation { method: Method::GET, summary, describe: H::describe })
}

fn posts<H, T: 'static, D>(handler: H, summary: &'static str) -> RoutedMethod
where
    H: AxumHandler<T, Kernel> + Documented<D>,
{
    (POST, post(handler), Operation { method: Method::POST, summary, describe: H::describe })
}

fn deletes<H, T: 'static, D>(handler: H, summary: &'static str) -> RoutedMethod
where
    H: AxumHandler<T, Kernel> + Documented<D>,
{
    (DELETE, delete(handler), Operation { method: Method::DELETE, summary, describe: H::describe })
}

fn route(path: &'static str, access: Access, (methods, handler, operation): RoutedMethod) -> Route {
    Route { path, methods, access, handler: Handler::Routed(Box::new(handler)), operations: vec![operation] }
}

/// A route with two methods, of which the first is GET.
fn pair(path: &'static str, access: Access, (_, read, reading): RoutedMethod, change: RoutedMethod) -> Route {
    let (methods, changing, operation) = change;
    let methods = if methods == DELETE { GET_DELETE } else { GET_POST };
    let handler = Handler::Routed(Box::new(read.merge(changing)));
    Route { path, methods, access, handler, operations: vec![reading, operation] }
}

pub(crate) fn table() -> Vec<Route> {
    let mut table = server();
    table.extend(agents_and_tasks());
    table.extend(access());
    table.extend(skills());
    table.extend(mcp_servers());
    table.extend(external_agents());
    table.extend(mcp_endpoints());
    table.extend(a2a::rows());
    table
}

fn server() -> Vec<Route> {
    use Access::{Admin, Credential, Public};
    vec![
        route("/health", Public, reads(health::show, "whether the server works")),
        route("/api/login", Public, posts(login::log_in, "log in with a password; the answer sets a cookie")),
        route("/api/logout", Credential, posts(login::log_out, "end the login of the cookie")),
        route("/api/me", Credential, reads(login::me, "show the caller and its grants")),
        route("/api/openapi.json", Credential, reads(openapi, "show this document")),
        route("/metrics", Admin, reads(metrics::show, "show metrics in the Prometheus format")),
        route(
            "/api/config/status",
            Admin,
            reads(config::status, "compare the files of the home with what is in force"),
        ),
        route("/api/config/reload", Admin, posts(config::reload, "reload config.toml and agents/")),
    ]
}

fn agents_and_tasks() -> Vec<Route> {
    use Access::Credential;
    let at = |path, method| route(path, Credential, method);
    vec![
        at("/api/agents", reads(agents::list, "list the agents that the caller may talk to")),
        at("/api/agents/{name}", reads(agents::show, "show an agent and the tools that it can use")),
        at("/api/agents/{name}/message", posts(agents::message, "send a message to an agent")),
        at("/api/tools", reads(tools::list, "list the tools that the caller may use")),
        pair(
            "/api/tools/{name}",
            Credential,
            reads(tools::show, "show the definition of a tool"),
            posts(tools::call, "call a tool"),
        ),
        at("/api/tasks", reads(tasks::list, "list the caller's tasks, latest change first")),
        at("/api/tasks/{id}", reads(tasks::show, "show a task")),
        at("/api/tasks/{id}/cancel", posts(tasks::cancel, "cancel a task")),
        at("/api/tasks/{id}/events", reads(tasks::events, "follow a task until it ends; Last-Event-ID resumes")),
        at("/api/policy", posts(policy::test, "compare the verdicts on calls with expected ones")),
        at("/api/policy/{agent}/{tool}", reads(policy::explain, "explain whether an agent may call a tool")),
        at("/api/approvals", reads(approvals::list, "list the calls that wait for a person")),
        pair(
            "/api/approvals/{id}",
            Credential,
            reads(approvals::show, "show a call that waits for a person"),
            posts(approvals::decide, "approve or deny a call"),
        ),
        at("/api/events", reads(events::list, "list the caller's published events, newest first")),
        at("/api/events/feed", reads(events::feed, "follow the caller's published events; Last-Event-ID resumes")),
        at("/api/schedules/{id}", posts(schedules::change, "pause, resume or run a schedule")),
    ]
}

fn access() -> Vec<Route> {
    use Access::Credential;
    let at = |path, method| route(path, Credential, method);
    vec![
        pair("/api/users", Credential, reads(users::list, "list the users"), posts(users::add, "add a user")),
        at("/api/users/{name}", deletes(users::remove, "remove a user; keys and logins are revoked")),
        at(
            "/api/users/{name}/grants",
            posts(users::set_grants, "replace the grants of a user, or add and remove some"),
        ),
        at("/api/grants", reads(users::explain_grant, "show which tools and agents a grant names now")),
        at("/api/users/{name}/password", posts(users::set_password, "set or remove the password of a user")),
        pair(
            "/api/keys",
            Credential,
            reads(keys::list, "list the keys of users"),
            posts(keys::create, "create a key; it is shown only here"),
        ),
        at("/api/keys/{id}", deletes(keys::revoke, "revoke a key")),
        pair(
            "/api/secrets",
            Credential,
            reads(secrets::list, "list the stored secrets, without values"),
            posts(secrets::set, "store a secret"),
        ),
        at("/api/secrets/{name}", deletes(secrets::remove, "remove a stored secret")),
        at("/api/models", reads(models::list, "list the providers and the models that agents use")),
        at("/api/models/show", reads(models::show, "show a model, its window and its prices")),
        at("/api/models/test", posts(models::test, "ask a model for one short answer")),
        at("/api/usage", reads(models::usage, "show what models took, by agent, model or day")),
        at("/api/secrets/{name}/allow", posts(secrets::allow, "give a stored secret to one more user of it")),
    ]
}

fn skills() -> Vec<Route> {
    use Access::Credential;
    let at = |path, method| route(path, Credential, method);
    vec![
        pair(
            "/api/skills",
            Credential,
            reads(skills::list, "list the skills, trusted or not"),
            posts(skills::install, "install a skill from this machine or an MCP server, or only show it"),
        ),
        pair(
            "/api/skills/{name}",
            Credential,
            reads(skills::show, "show a skill, its files and what changed"),
            deletes(skills::remove, "remove a skill that is installed or trusted"),
        ),
        at("/api/skills/{name}/change", posts(skills::change, "trust, enable or disable a skill")),
        at("/api/skill-projects", posts(skills::set_project, "look for skills in a project directory, or no more")),
    ]
}

fn mcp_servers() -> Vec<Route> {
    use Access::Credential;
    let at = |path, method| route(path, Credential, method);
    vec![
        pair(
            "/api/mcp/servers",
            Credential,
            reads(mcp_servers::list, "list the MCP servers"),
            posts(mcp_servers::add, "add an MCP server to config.toml and connect it"),
        ),
        pair(
            "/api/mcp/servers/{name}",
            Credential,
            reads(mcp_servers::show, "show an MCP server"),
            deletes(mcp_servers::remove, "disconnect an MCP server and remove it from config.toml"),
        ),
        at("/api/mcp/servers/{name}/restart", posts(mcp_servers::restart, "reconnect an MCP server")),
        at("/api/mcp/servers/{name}/test", posts(mcp_servers::test, "test the connection of an MCP server")),
        at("/api/mcp/servers/{name}/approve", posts(mcp_servers::approve, "accept new and changed tools")),
        at("/api/mcp/servers/{name}/review", reads(mcp_servers::review, "show the tools that wait to be accepted")),
        at(
            "/api/mcp/servers/{name}/settings",
            posts(mcp_servers::set, "switch a server on or off, or choose its tools"),
        ),
        at("/api/mcp/servers/{name}/log", reads(mcp_servers::log, "show the last lines of a server's log")),
    ]
}

fn external_agents() -> Vec<Route> {
    use Access::Credential;
    let at = |path, method| route(path, Credential, method);
    vec![
        pair(
            "/api/a2a/agents",
            Credential,
            reads(external_agents::list, "list the external agents"),
            posts(external_agents::add, "add an external agent to config.toml"),
        ),
        pair(
            "/api/a2a/agents/{name}",
            Credential,
            reads(external_agents::show, "show an external agent and its card"),
            deletes(external_agents::remove, "remove an external agent from config.toml"),
        ),
        at("/api/a2a/agents/{name}/refresh", posts(external_agents::test, "fetch the card of an external agent")),
        at("/api/a2a/agents/{name}/test", posts(external_agents::test, "fetch the card of an external agent")),
        at("/api/a2a/agents/{name}/approve", posts(external_agents::approve, "accept the changed card of an agent")),
        at("/api/a2a/discover", posts(external_agents::discover, "find the agent at a URL")),
        at("/api/a2a/send", posts(external_agents::send, "send a message to the agent at a URL")),
        at("/api/a2a/tasks/{id}/status", reads(external_agents::task_status, "show a task of the agent at a URL")),
    ]
}

fn mcp_endpoints() -> Vec<Route> {
    use Access::Credential;
    let endpoint = |path, handler| Route {
        path,
        methods: mcp::METHODS,
        access: Credential,
        handler,
        operations: vec![
            protocol(Method::POST, "send a message of MCP"),
            Operation { method: Method::GET, summary: "open an event stream of MCP", describe: Events::describe },
            protocol(Method::DELETE, "end a session of MCP"),
        ],
    };
    vec![
        endpoint("/mcp", Handler::Mcp),
        endpoint(mcp::GATEWAY, Handler::Gateway),
        route("/sse", Credential, reads(mcp::open_sse, "open an event stream of the first revision of MCP")),
        route("/messages", Credential, posts(mcp::post_sse, "send a message of the first revision of MCP")),
    ]
}

/// An operation that a protocol describes.
fn protocol(method: Method, summary: &'static str) -> Operation {
    let describe: Describe = match method {
        Method::POST => AnyJson::exchange,
        _ => AnyJson::describe,
    };
    Operation { method, summary, describe }
}

async fn openapi() -> axum::Json<serde_json::Value> {
    axum::Json(crate::openapi::document())
}
