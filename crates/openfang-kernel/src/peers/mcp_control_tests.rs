//! What is shown of a server has the members that the integration guide prints.

use openfang_types::mcp_status::{McpServerState, McpToolStatus};
use serde_json::json;

use super::*;

#[test]
fn a_connected_server_is_shown_as_in_the_guide() {
    let tool = |name: &str, description: &str| McpToolStatus {
        name: format!("mcp_github_{name}").parse().unwrap(),
        tool: name.to_owned(),
        description: format!("[MCP:github] {description}"),
        quarantined: false,
    };
    let status = McpServerStatus {
        state: McpServerState::Ready,
        tools: vec![tool("create_issue", "Create a GitHub issue"), tool("search_repos", "Search repositories")],
        ..view::not_connected(&"github".parse().unwrap())
    };

    let shown = json!(McpServerView::new(status, str::to_owned));

    assert_eq!(
        (&shown["name"], &shown["tools_count"], &shown["connected"]),
        (&json!("github"), &json!(2), &json!(true))
    );
    for (tool, (name, description)) in shown["tools"].as_array().unwrap().iter().zip([
        ("mcp_github_create_issue", "[MCP:github] Create a GitHub issue"),
        ("mcp_github_search_repos", "[MCP:github] Search repositories"),
    ]) {
        assert_eq!((&tool["name"], &tool["description"]), (&json!(name), &json!(description)));
    }
}

#[test]
fn only_ready_and_degraded_servers_are_connected() {
    use McpServerState::{Configured, Degraded, Disabled, Failed, Ready, Starting};
    for state in [Configured, Starting, Ready, Degraded, Failed, Disabled] {
        let status = McpServerStatus { state, ..view::not_connected(&"x".parse().unwrap()) };
        assert_eq!(McpServerView::new(status, str::to_owned).connected, matches!(state, Ready | Degraded), "{state:?}");
    }
}
