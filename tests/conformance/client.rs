//! Our MCP client against the servers of the official conformance suite. `tests/conformance_client` does what each
//! scenario wants. Left out are those about OAuth, and about extensions that we do not have.

use std::path::{Path, PathBuf};

use crate::support::peers;

const LEGACY: [&str; 5] = [
    "elicitation-sep1034-client-defaults",
    "initialize",
    "json-schema-2020-12-preservation",
    "sse-retry",
    "tools_call",
];

const MODERN: [&str; 8] = [
    "http-custom-headers",
    "http-invalid-tool-headers",
    "http-standard-headers",
    "json-schema-2020-12-preservation",
    "json-schema-ref-no-deref",
    "request-metadata",
    "sep-2322-client-request-state",
    "tools_call",
];

/// Messages of the legacy era, which a client that speaks the modern one does not send.
const NOT_SENT: [&str; 2] = ["ClientMcpMethodHeader_initialize", "ClientMcpMethodHeader_notifications_initialized"];

/// The client, which is built beside the binary, as an example of its crate.
fn client() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_openfang")).parent().unwrap();
    let client = built.join("examples/conformance_client");
    assert!(client.exists(), "{} is missing: run `cargo build --examples` first", client.display());
    client
}

#[test]
fn the_client_passes_every_scenario_of_2026_07_28() {
    let found = peers::client_conformance(&client(), "2026-07-28", &MODERN).recorded("the MCP client, 2026-07-28");

    found.without_skipped(&NOT_SENT).assert_passed(&[&MODERN]);
}

#[test]
fn the_client_passes_every_scenario_of_2025_11_25() {
    let found = peers::client_conformance(&client(), "2025-11-25", &LEGACY).recorded("the MCP client, 2025-11-25");

    found.assert_passed(&[&LEGACY]);
}
