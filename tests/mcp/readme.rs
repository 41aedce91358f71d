//! The snippets that people copy from the documentation start a server that works.

use serde_json::{Value, json};

use super::wire::{initialize, request, texts};
use crate::support::binary::Openfang;

const PAGE: &str = include_str!("../../docs/connect.md");

/// The server entries of all snippets: what is started, with which arguments.
fn entries() -> Vec<Value> {
    let blocks = PAGE.split("```json\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let snippets = blocks.map(|(block, _)| serde_json::from_str::<Value>(block).unwrap());
    snippets
        .filter_map(|snippet| {
            let servers = snippet.get("mcpServers").or_else(|| snippet.get("servers"))?;
            servers.get("openfang").cloned()
        })
        .collect()
}

#[test]
fn the_snippets_of_the_documentation_start_a_server_that_lists_and_calls() {
    let entries = entries();
    assert_eq!(entries.len(), 2, "one for Cursor, Claude Desktop and Claude Code, one for VS Code");
    for entry in entries {
        assert_eq!(entry["command"], "openfang");
        let arguments: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let openfang = Openfang::new();
        let mut ide = openfang.converse(&arguments);
        ide.ask(&initialize("2025-11-25", json!({})));

        let listed = ide.ask(&request(1, "tools/list", json!({})));
        let called = ide.ask(&request(
            2,
            "tools/call",
            json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}}),
        ));

        assert!(listed["result"]["tools"].as_array().unwrap().len() > 5, "{listed}");
        assert_eq!(texts(&called["result"]), ["Hello, Ada!"]);
    }
}
