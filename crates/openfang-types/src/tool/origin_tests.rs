//! How an origin is listed.

use super::*;
use crate::taint::SinkKind;
use crate::tool::{ToolAnnotations, ToolDefinition};

#[test]
fn a_tool_is_listed_with_its_server_or_its_agent_and_a_built_in_one_with_neither() {
    let rows = [
        (Origin::Builtin, None, None),
        (Origin::McpServer("files".parse().unwrap()), Some("files"), None),
        (Origin::A2aAgent("research".parse().unwrap()), None, Some("research")),
    ];
    for (origin, server, agent) in rows {
        let name = "look".parse().unwrap();
        let tool = ToolDefinition::of::<()>(name, "Looks.", SinkKind::Reads, ToolAnnotations::READ_ONLY);
        let tool = ToolDefinition { origin, ..tool };
        let listed = serde_json::to_value(&tool).unwrap();

        assert_eq!(listed.get("server").and_then(|server| server.as_str()), server);
        assert_eq!(listed.get("agent").and_then(|agent| agent.as_str()), agent);
        assert_eq!(listed.get("origin"), None);
        assert_eq!(serde_json::from_value::<ToolDefinition>(listed).unwrap(), tool);
    }
}
