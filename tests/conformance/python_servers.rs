//! Servers on the Python SDKs: whatever the suite finds good about one directly is good about it through us, in either era on
//! our side, with a server that may ask its callers.

use std::collections::BTreeSet;

use openfang_testkit::home::TestHome;
use openfang_testkit::server::TestServer;
use openfang_types::config::{Config, McpServerConfigEntry, McpTransportEntry};

use crate::support::peers::{self, PeerServer};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What these servers are good at in every revision: with less, being equal would say little.
const AT_LEAST: [&str; 12] = [
    "prompts-get-simple",
    "prompts-get-with-args",
    "resources-read-binary",
    "resources-read-text",
    "resources-templates-read",
    "tools-call-audio",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
];

/// What the suite finds good at a URL.
async fn good_at(url: String, revision: &'static str) -> BTreeSet<String> {
    let run = move || peers::conformance(&url, &["--requirements", revision]).good();
    tokio::task::spawn_blocking(run).await.unwrap()
}

async fn is_as_good_through_us_as_directly(server: PeerServer) {
    let server = server.http();
    let home = TestHome::new();
    let transport = McpTransportEntry::Http { url: server.url(), headers: Default::default() };
    let entry =
        McpServerConfigEntry { interactive: true, ..McpServerConfigEntry::new("peer".parse().unwrap(), transport) };
    let config = Config { mcp_servers: vec![entry], api_listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let kernel = home.boot_with(config).start().unwrap();
    kernel.connect_mcp_servers();
    let us = TestServer::start(kernel.clone()).await;

    for revision in REVISIONS {
        let directly = good_at(server.url(), revision).await;
        let missing: Vec<_> = AT_LEAST.into_iter().filter(|name| !directly.contains(*name)).collect();
        assert!(missing.is_empty(), "{revision}: {missing:?} is wrong without us");
        let ours = format!("http://localhost:{}/mcp/servers/peer", us.address.port());
        let through_us = good_at(ours, revision).await;
        let lost: Vec<_> = directly.difference(&through_us).collect();
        assert!(lost.is_empty(), "{revision}: {lost:?} is good directly, and not through us");
    }
    us.stop().await;
    kernel.close().await;
}

#[tokio::test]
async fn a_server_on_the_python_sdk_is_as_good_through_us_as_directly() {
    is_as_good_through_us_as_directly(PeerServer::PythonMcp).await;
}

#[tokio::test]
async fn a_server_on_fastmcp_is_as_good_through_us_as_directly() {
    is_as_good_through_us_as_directly(PeerServer::FastMcp).await;
}
