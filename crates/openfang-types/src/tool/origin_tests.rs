//! How an origin is listed.

use super::*;
use crate::taint::SinkKind;
use crate::tool::{ToolAnnotations, ToolDefinition};

#[test]
fn a_tool_of_a_server_is_listed_with_its_server_and_a_built_in_one_without() {
    for (origin, server) in [(Origin::Builtin, None), (Origin::McpServer("files".parse().unwrap()), Some("files"))] {
        let name = "look".parse().unwrap();
        let tool = ToolDefinition::of::<()>(name, "Looks.", SinkKind::Reads, ToolAnnotations::READ_ONLY);
        let tool = ToolDefinition { origin, ..tool };
        let listed = serde_json::to_value(&tool).unwrap();

        assert_eq!(listed.get("server").and_then(|server| server.as_str()), server);
        assert_eq!(listed.get("origin"), None);
        assert_eq!(serde_json::from_value::<ToolDefinition>(listed).unwrap(), tool);
    }
}
