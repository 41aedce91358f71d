//! A server that is nowhere, and still has a tool.

use std::sync::Arc;
use std::time::Duration;

use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Endpoint, Locator, Manifest, NoEndpoint, Observer, Relay, Upstream, UpstreamParts};
use openfang_runtime::server_call::GuardedRelay;
use openfang_runtime::server_tools::{ServerTools, names_of};
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

struct Nowhere;

impl Locator for Nowhere {
    fn endpoint(&self) -> Result<Endpoint, NoEndpoint> {
        Err(NoEndpoint::for_now("nowhere"))
    }
}

impl Observer for Nowhere {
    fn changed(&self) {}
}

/// A server `x` whose one tool is listed under this name.
pub(super) fn with_tool(name: &str) -> Arc<ServerTools> {
    let parts = UpstreamParts {
        conversations: 8,
        counts: Arc::default(),
        name: "x".to_owned(),
        place: Arc::new(Nowhere),
        timeout: Duration::ZERO,
        startup: Duration::ZERO,
        declared: ClientCapabilities::NONE,
        instance: None,
        only: None,
        known: None,
        manifest: None,
        observer: Arc::new(Nowhere),
        tracker: TaskTracker::new(),
        stop: CancellationToken::new(),
    };
    let relay = Arc::new(GuardedRelay::new(Relay::new(Upstream::new(parts), false)));
    let tool = json!({ "name": "y", "description": "does y", "inputSchema": { "type": "object" } });
    let kept = json!({ "tools": [tool], "prompts": [], "templates": [] }).to_string();
    let listing = Manifest::of(serde_json::from_str(&kept).unwrap()).tools;
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    let entry = McpServerConfigEntry::new("x".parse().unwrap(), transport);
    let namespace = names_of(&entry.name, []);
    ServerTools::new(&entry, &relay, &listing, ([name].into_iter().collect(), namespace), None)
}
