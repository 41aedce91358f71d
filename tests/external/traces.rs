//! A client, two servers and an MCP server behind the second one: all of it is one trace.

use openfang_testkit::{RawAgent, TestHome, callers, raw_agent};
use openfang_types::config::{ExternalAgent, McpProtocol, McpServerConfigEntry, McpTransportEntry};
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::mcp::wire::{request, session, texts};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// An MCP server of 2025-06-18 with one tool, which records what it hears.
async fn mcp_server() -> RawAgent {
    RawAgent::new(|post| async move {
        let Ok(request) = serde_json::from_str::<Value>(&post.body) else { return raw_agent::status(405) };
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "last", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "here"}]}),
            _ => return raw_agent::status(202),
        };
        raw_agent::ok(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    })
    .await
}

#[tokio::test]
async fn a_trace_leads_from_the_client_through_both_servers_to_the_last_one() {
    let last = mcp_server().await;
    let far_home = TestHome::new().with_direct("hand", &["mcp_*"]);
    let mut far = config();
    let transport =
        McpTransportEntry::Http { url: format!("http://{}/mcp", last.address), headers: Default::default() };
    far.mcp_servers = vec![McpServerConfigEntry {
        protocol: McpProtocol::Legacy,
        ..McpServerConfigEntry::new("last".parse().unwrap(), transport)
    }];
    let far = start(&far_home, far).await;
    let operator = callers::operator(&far.kernel);
    far.kernel.test_mcp_server(&operator, &"last".parse().unwrap()).await.unwrap();
    let near_home = TestHome::new();
    let mut near = config();
    let url = format!("http://{}/a2a/agents/hand", far.address);
    near.a2a.external_agents = vec![ExternalAgent::new("far".parse().unwrap(), url)];
    let near = start(&near_home, near).await;

    let client = session(&near.client(), "2025-11-25", json!({})).await;
    let client = client.with("traceparent", &format!("00-{TRACE}-{SPAN}-01"));
    let params = json!({"name": "a2a_far", "arguments": {"message": "/mcp_last_echo {}"}});
    let answer = client.post("/mcp", &request(1, "tools/call", params)).await.json();

    assert_eq!(texts(&answer["result"]), ["here"], "{answer}");
    let [call] = last.calls("tools/call").try_into().unwrap();
    let meta = &call["params"]["_meta"];
    let parent = meta["traceparent"].as_str().unwrap_or_else(|| panic!("{call}"));
    assert!(parent.starts_with(&format!("00-{TRACE}-")) && !parent.contains(SPAN), "a span of its own: {parent}");
    assert_eq!(meta["io.openfang/hops"], 2, "{call}");
    near.stop().await;
    far.stop().await;
}
