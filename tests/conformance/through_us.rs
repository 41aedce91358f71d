//! The same suite against the same fixture, with us in between: either era on either side.
//!
//! Whatever the suite asks of a server, a client that reaches the server through us gets it too. What the protocol itself
//! makes impossible stands in a table, with the sentence that says so.

use openfang_testkit::home::TestHome;
use openfang_testkit::mcp_fixture;
use openfang_testkit::server::TestServer;
use openfang_types::config::{Config, McpProtocol, McpServerConfigEntry, McpTransportEntry};

use super::{COMMON, LEGACY, MODERN, OF_2025_11_25, TASKS};
use crate::support::peers::{self, Conformance};

/// Not scored, and not the gateway's to do: a server that wants to be polled ends its connection with us, and we come back
/// for the rest, while our client waits on a connection that nobody ends.
const BETWEEN_SERVER_AND_US: [&str; 1] = ["server-sse-polling"];

/// What the suite finds out about a fixture behind us.
async fn through_us(upstream: McpProtocol, arguments: &'static [&'static str]) -> Conformance {
    let fixture = mcp_fixture::start().await;
    let home = TestHome::new();
    let transport = McpTransportEntry::Http { url: fixture.url.clone(), headers: Default::default() };
    let entry = McpServerConfigEntry {
        protocol: upstream,
        interactive: true,
        ..McpServerConfigEntry::new("fixture".parse().unwrap(), transport)
    };
    let config = Config { mcp_servers: vec![entry], api_listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let kernel = home.boot_with(config).start().unwrap();
    kernel.connect_mcp_servers();
    let server = TestServer::start(kernel.clone()).await;
    let url = format!("http://localhost:{}/mcp/servers/fixture", server.address.port());
    let found = tokio::task::spawn_blocking(move || peers::conformance(&url, arguments)).await.unwrap();
    server.stop().await;
    kernel.close().await;
    found
}

#[tokio::test]
async fn a_modern_client_has_everything_of_a_modern_server() {
    let found = through_us(McpProtocol::Modern, &["--requirements", "2026-07-28"])
        .await
        .recorded("a server of 2026-07-28 through OpenFang, for clients of 2026-07-28");

    found.assert_passed(&[&COMMON, &MODERN]);
    found.assert_tasks_passed(&TASKS);
}

#[tokio::test]
async fn a_legacy_client_has_everything_of_a_legacy_server() {
    let found = through_us(McpProtocol::Legacy, &["--requirements", "2025-11-25"])
        .await
        .recorded("a server of 2025-11-25 through OpenFang, for clients of 2025-11-25");

    found.assert_passed_but(&BETWEEN_SERVER_AND_US, &[&COMMON, &LEGACY, &OF_2025_11_25]);
}

#[tokio::test]
async fn a_modern_client_has_everything_of_a_legacy_server() {
    let found = through_us(McpProtocol::Legacy, &["--requirements", "2026-07-28"])
        .await
        .recorded("a server of 2025-11-25 through OpenFang, for clients of 2026-07-28");

    found.assert_passed(&[&COMMON, &MODERN]);
    found.assert_tasks_passed(&TASKS);
}

#[tokio::test]
async fn a_legacy_client_has_everything_of_a_modern_server() {
    let found = through_us(McpProtocol::Modern, &["--requirements", "2025-11-25"])
        .await
        .recorded("a server of 2026-07-28 through OpenFang, for clients of 2025-11-25");

    found.assert_passed_but(&BETWEEN_SERVER_AND_US, &[&COMMON, &LEGACY, &OF_2025_11_25]);
}
