//! The URL table, and nothing else: which path, which methods, who may come in, who answers.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::routing::{MethodRouter, get, post};
use http::Method;
use openfang_kernel::Kernel;

use crate::error::ApiError;
use crate::layers::{Front, Gate, guard};

mod agents;
mod health;
mod mcp;
mod mcp_servers;
mod metrics;
mod policy;
mod sse;
mod tasks;
mod tools;

/// Who may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody.
    Public,
    /// Whoever has a credential; without any configured, whoever comes over loopback.
    Credential,
}

/// A row of the table.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) methods: &'static [Method],
    pub(crate) access: Access,
    handler: MethodRouter<Kernel>,
}

/// The table.
pub(crate) fn table() -> Vec<Route> {
    use Access::{Credential, Public};
    const GET: &[Method] = &[Method::GET];
    const POST: &[Method] = &[Method::POST];
    const GET_POST: &[Method] = &[Method::GET, Method::POST];
    const GET_DELETE: &[Method] = &[Method::GET, Method::DELETE];
    const MCP: &[Method] = &[Method::POST, Method::GET, Method::DELETE];
    let route = |path, methods, access, handler| Route { path, methods, access, handler };
    vec![
        route("/health", GET, Public, get(health::show)),
        route("/metrics", GET, Credential, get(metrics::show)),
        route("/api/agents", GET, Credential, get(agents::list)),
        route("/api/agents/{name}", GET, Credential, get(agents::show)),
        route("/api/agents/{name}/message", POST, Credential, post(agents::message)),
        route("/api/tools", GET, Credential, get(tools::list)),
        route("/api/tools/{name}", GET_POST, Credential, get(tools::show).post(tools::call)),
        route("/api/tasks", GET, Credential, get(tasks::list)),
        route("/api/tasks/{id}", GET, Credential, get(tasks::show)),
        route("/api/tasks/{id}/cancel", POST, Credential, post(tasks::cancel)),
        route("/api/tasks/{id}/events", GET, Credential, get(tasks::events)),
        route("/api/policy/{agent}/{tool}", GET, Credential, get(policy::explain)),
        route("/api/mcp/servers", GET_POST, Credential, get(mcp_servers::list).post(mcp_servers::add)),
        route("/api/mcp/servers/{name}", GET_DELETE, Credential, get(mcp_servers::show).delete(mcp_servers::remove)),
        route("/api/mcp/servers/{name}/restart", POST, Credential, post(mcp_servers::restart)),
        route("/api/mcp/servers/{name}/test", POST, Credential, post(mcp_servers::test)),
        route("/api/mcp/servers/{name}/approve", POST, Credential, post(mcp_servers::approve)),
        route("/api/mcp/servers/{name}/log", GET, Credential, get(mcp_servers::log)),
        route("/mcp", MCP, Credential, post(mcp::endpoint).get(mcp::endpoint).delete(mcp::endpoint)),
        route("/mcp/servers/{name}", MCP, Credential, post(mcp::gateway).get(mcp::gateway).delete(mcp::gateway)),
        route("/sse", GET, Credential, get(mcp::open_sse)),
        route("/messages", POST, Credential, post(mcp::post_sse)),
    ]
}

/// The router, every route and every miss behind the layers.
pub(crate) fn router(front: &Arc<Front>) -> Router {
    let guarded = |access: Access, path: &'static str, handler: MethodRouter<Kernel>| {
        let gate = Gate { front: Arc::clone(front), access, path };
        handler.layer(middleware::from_fn(move |request: Request, next: Next| guard(gate.clone(), request, next)))
    };
    let missing = MethodRouter::new().fallback(|| async { ApiError::no_such_route() });
    let rows = table().into_iter();
    let routed = rows.fold(Router::new(), |router, row| {
        let wrong_method = move || async move { ApiError::wrong_method(row.methods) };
        router.route(row.path, guarded(row.access, row.path, row.handler.fallback(wrong_method)))
    });
    routed
        .fallback_service(guarded(Access::Credential, "unknown", missing).with_state(front.kernel.clone()))
        .with_state(front.kernel.clone())
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
