//! The credentials of callers stay here: an agent that shows everything it receives shows none of them, whichever interface
//! the caller used.

use openfang_testkit::{RawAgent, TestHome, raw_agent};
use openfang_types::config::ExternalAgent;
use openfang_types::secret::Secret;
use serde_json::json;

use super::fixture::{config, start};
use crate::support::binary::Openfang;

const KEY: &str = "the-callers-own-key-0123456789";
const OURS: &str = "the-key-for-the-agent-9876543210";

async fn echoing() -> RawAgent {
    RawAgent::with_card(false, |_, post| async move {
        let said = format!("{:?} {}", post.headers, post.body);
        raw_agent::result(&json!({ "task": raw_agent::task("t", "TASK_STATE_COMPLETED", &said) }))
    })
    .await
}

#[tokio::test]
async fn no_interface_hands_the_credential_of_its_caller_to_an_agent() {
    let agent = echoing().await;
    let home = TestHome::new();
    let mut config = config();
    config.api_key = Some(Secret::new(KEY.to_owned()));
    let mut entry = ExternalAgent::new("echo".parse().unwrap(), agent.url());
    entry.headers.insert("x-api-key".to_owned(), Secret::new(OURS.to_owned()));
    config.a2a.external_agents = vec![entry];
    let server = start(&home, config).await;
    let client = server.client().bearer(KEY).with("cookie", &format!("session={KEY}"));
    let client = client
        .with("mcp-protocol-version", "2025-11-25")
        .with("accept", "application/json, text/event-stream");

    let meta = json!({ "authorization": format!("Bearer {KEY}"), "io.modelcontextprotocol/auth": KEY });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a2a_echo", "arguments": {"message": "hi"}, "_meta": meta}});
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    let send =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"tenant": "echo", "message": message}});
    let rest = json!({"parts": [{"text": "hi"}]});
    let answers = [
        ("MCP", client.post("/mcp", &call).await),
        ("A2A", client.post("/a2a", &send).await),
        ("agents", client.post("/api/agents/echo/message", &rest).await),
        ("tools", client.post("/api/tools/a2a_echo", &json!({"arguments": {"message": "hi"}})).await),
    ];

    for (name, answer) in &answers {
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        assert!(answer.body.contains("user-agent"), "{name}: the agent shows what it received: {}", answer.body);
        assert!(!answer.body.contains(OURS), "{name}: {}", answer.body);
    }
    let heard = agent.heard();
    assert!(heard.len() >= answers.len());
    for post in heard {
        let text = format!("{:?} {}", post.headers, post.body);
        assert!(!text.contains(KEY), "{text}");
        assert_eq!(post.header("x-api-key"), Some(OURS));
        assert_eq!(post.header("cookie"), None);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_hands_no_token_of_the_daemon_to_an_agent() {
    let agent = echoing().await;
    let home = Openfang::new();
    home.write("config.toml", &format!("[[a2a.external_agents]]\nname = \"echo\"\nurl = \"{}\"\n", agent.url()));
    let daemon = home.start();
    let token = std::fs::read_to_string(home.home().join("daemon.json")).unwrap();
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();

    let said = home.run(&["a2a", "send", "echo", "hi"]);

    assert!(said.stdout.contains("user-agent"), "{said:?}");
    let token = token["token"].as_str().unwrap();
    for post in agent.heard() {
        assert!(!format!("{post:?}").contains(token));
    }
    drop(daemon);
}
