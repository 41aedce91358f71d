//! Our MCP server core, and in `client.rs` our client, against the official conformance suite, and against what the suite
//! does not look at.
//!
//! Every scenario that a revision has must run and pass, so that one that silently disappears, or that passes because
//! it checked nothing, fails here. The suite knows nothing of 2024-11-05: that revision has tests of its own.

mod answers;
mod client;
mod first_revision;
mod pipes;
mod python_servers;
mod talk;
mod through_us;

use openfang_testkit::mcp_fixture;

use crate::support::peers::{self, Conformance};

/// In every revision that the suite knows by more than its sessions.
const COMMON: [&str; 18] = [
    "completion-complete",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "prompts-list",
    "resources-list",
    "resources-read-binary",
    "resources-read-text",
    "resources-templates-read",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
];

/// In the legacy era.
const LEGACY: [&str; 9] = [
    "logging-set-level",
    "ping",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-initialize",
    "server-session-lifecycle",
    "tools-call-elicitation",
    "tools-call-sampling",
    "tools-call-with-logging",
];

const OF_2025_11_25: [&str; 6] = [
    "dns-rebinding-protection",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "server-sse-polling",
];

const MODERN: [&str; 22] = [
    "caching",
    "dns-rebinding-protection",
    "http-custom-header-server-validation",
    "http-header-validation",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-list-roots",
    "input-required-result-basic-sampling",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-multi-round",
    "input-required-result-multiple-input-requests",
    "input-required-result-non-tool-request",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "json-schema-2020-12",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "server-stateless",
];

/// The extension for tasks, which the suite runs with the newest revision and does not score. It always skips
/// `tasks-status-notifications`.
const TASKS: [&str; 9] = [
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-wire-fields",
];

/// What the suite finds out about a fixture of its own.
async fn conformance(arguments: &'static [&'static str]) -> Conformance {
    let fixture = mcp_fixture::start().await;
    let url = fixture.url.clone();
    tokio::task::spawn_blocking(move || peers::conformance(&url, arguments)).await.unwrap()
}

#[tokio::test]
async fn everything_of_2026_07_28_passes() {
    let found = conformance(&["--requirements", "2026-07-28"])
        .await
        .recorded("the MCP server, 2026-07-28");

    found.assert_passed(&[&COMMON, &MODERN]);
    found.assert_tasks_passed(&TASKS);
}

#[tokio::test]
async fn everything_of_2025_11_25_passes() {
    let found = conformance(&["--requirements", "2025-11-25"])
        .await
        .recorded("the MCP server, 2025-11-25");

    found.assert_passed(&[&COMMON, &LEGACY, &OF_2025_11_25]);
}

#[tokio::test]
async fn everything_of_2025_06_18_passes() {
    let found = conformance(&["--suite", "all", "--spec-version", "2025-06-18"])
        .await
        .recorded("the MCP server, 2025-06-18");

    found.assert_passed(&[&COMMON, &LEGACY]);
}

#[tokio::test]
async fn everything_of_2025_03_26_passes() {
    let found = conformance(&["--suite", "all", "--spec-version", "2025-03-26"])
        .await
        .recorded("the MCP server, 2025-03-26");

    found.assert_passed(&[&["server-session-lifecycle"]]);
}
