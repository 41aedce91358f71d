//! Calls that belong to one conversation of their client go on with one conversation of the agent.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{Config, McpConfig};
use openfang_types::ids::ContextId;
use serde_json::{Value, json};

use super::fixture::{Pair, config, entry, far_home, start};
use crate::mcp::wire::{request, session};

/// Two servers; the near one looks at the conversations of its clients, or does not.
async fn pair(conversations: bool) -> Pair {
    let (far_home, near_home) = (far_home(), TestHome::new());
    let far = start(&far_home, config()).await;
    let mcp = McpConfig { conversations, ..McpConfig::default() };
    let mut near = Config { mcp, ..config() };
    near.a2a.external_agents = vec![entry(&far)];
    let near = start(&near_home, near).await;
    Pair { near, far, near_home, far_home }
}

/// Calls the agent in a conversation of the client, and returns what it answered.
async fn call(client: &Client, conversation: Value, arguments: Value) -> Value {
    let meta = json!({ "vscode.conversationId": conversation });
    let params = json!({ "name": "a2a_far", "arguments": arguments, "_meta": meta });
    client.post("/mcp", &request(1, "tools/call", params)).await.json()["result"]["structuredContent"].clone()
}

/// The conversations that the agent has had, the newest first.
async fn contexts(far: &TestServer) -> Vec<ContextId> {
    let admin = callers::admin(&far.kernel);
    let tasks = far.kernel.tasks(&admin, Default::default()).await.unwrap().tasks;
    tasks.into_iter().map(|task| task.context_id).collect()
}

#[tokio::test]
async fn calls_of_one_conversation_of_a_client_are_one_conversation_of_the_agent() {
    let pair = pair(true).await;
    let client = session(&pair.near.client(), "2025-11-25", json!({})).await;
    let hi = json!({ "message": "hi" });

    let first = call(&client, json!("chat-1"), hi.clone()).await;
    let second = call(&client, json!("chat-1"), hi.clone()).await;
    let other = call(&client, json!("chat-2"), hi.clone()).await;

    assert_eq!(first["state"], "completed", "{first}");
    assert_eq!((&first["context"], first["task"] == second["task"]), (&second["context"], false));
    assert_ne!(first["context"], other["context"]);
    let named = call(&client, json!("chat-2"), json!({ "message": "hi", "context": first["context"] })).await;
    assert_eq!(named["context"], first["context"], "a context that is named goes before");
    let [with_first, of_other, second, first] = contexts(&pair.far).await.try_into().unwrap();
    assert_eq!((&first, &first), (&second, &with_first), "the agent sees one conversation");
    assert_ne!(first, of_other);
    for nonsense in [json!(7), json!(""), json!("x".repeat(5_000)), json!({})] {
        assert_eq!(call(&client, nonsense, hi.clone()).await["state"], "completed");
    }
    pair.stop().await;
}

#[tokio::test]
async fn another_user_with_the_name_of_a_conversation_has_another_one() {
    let pair = pair(true).await;
    let of = async |user: &str| {
        let key = crate::inflight::key_of(&pair.near, user, "agent:far").await;
        let client = session(&pair.near.client().bearer(&key), "2025-11-25", json!({})).await;
        call(&client, json!("chat-1"), json!({ "message": "hi" })).await
    };

    let (ada, bob) = (of("ada").await, of("bob").await);

    assert_eq!((&ada["state"], &bob["state"]), (&json!("completed"), &json!("completed")));
    assert_ne!(ada["context"], bob["context"]);
    let [second, first] = contexts(&pair.far).await.try_into().unwrap();
    assert_ne!(first, second);
    pair.stop().await;
}

#[tokio::test]
async fn conversations_of_clients_count_for_nothing_where_that_is_switched_off() {
    let pair = pair(false).await;
    let client = session(&pair.near.client(), "2025-11-25", json!({})).await;

    let first = call(&client, json!("chat-1"), json!({ "message": "hi" })).await;
    let second = call(&client, json!("chat-1"), json!({ "message": "hi" })).await;

    assert_ne!(first["context"], second["context"]);
    pair.stop().await;
}
