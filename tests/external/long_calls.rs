//! Agents of other servers that work longer than an MCP client waits: the client has the task, and there is one of it.

use openfang_testkit::{RawAgent, TestHome, TestServer, callers};
use openfang_types::config::{Config, ExternalAgent, McpConfig};
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};

use super::fixture::{Pair, config, entry, far_home, start};
use crate::mcp::wire::{ask_modern, texts};

/// Two servers, of which the near one keeps its clients waiting for a second.
async fn pair() -> Pair {
    let (far_home, near_home) = (far_home(), TestHome::new());
    let far = start(&far_home, config()).await;
    let mcp = McpConfig { hold_secs: 1, ..McpConfig::default() };
    let mut near = Config { mcp, ..config() };
    near.a2a.external_agents = vec![entry(&far)];
    let near = start(&near_home, near).await;
    Pair { near, far, near_home, far_home }
}

async fn call(server: &TestServer, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    ask_modern(&server.client(), "tools/call", params).await.json()["result"].clone()
}

async fn tasks(server: &TestServer) -> Vec<Task> {
    let caller = callers::operator(&server.kernel);
    server.kernel.tasks(&caller, Default::default()).await.unwrap().tasks
}

#[tokio::test]
async fn a_client_gets_the_task_joins_it_and_cancels_it_at_the_agent() {
    let pair = pair().await;
    let first = call(&pair.near, "a2a_far", json!({ "message": "wait" })).await;
    assert_eq!(first["structuredContent"]["state"], "working", "{first}");
    let task = first["structuredContent"]["task"].clone();

    let again = call(&pair.near, "a2a_far", json!({ "message": "wait" })).await;
    assert_eq!(again["structuredContent"]["task"], task, "the same call is no other message");
    assert_eq!(tasks(&pair.far).await.len(), 1, "the agent was sent one message");

    let canceled = call(&pair.near, "openfang_task", json!({ "task": task, "cancel": true })).await;
    assert_eq!(canceled["isError"], true);
    assert_eq!(texts(&canceled), ["The A2A agent far ended canceled:"]);
    while tasks(&pair.far).await[0].status.state != TaskState::Canceled {
        tokio::task::yield_now().await;
    }
    pair.stop().await;
}

#[tokio::test]
async fn a_question_of_the_agent_is_answered_with_the_same_tool_in_the_same_task() {
    let pair = pair().await;
    let asked = call(&pair.near, "a2a_far", json!({ "message": "ask" })).await;
    let task = asked["structuredContent"]["task"].clone();
    assert!(texts(&asked).concat().contains("openfang_task"), "{asked}");

    let answered = call(&pair.near, "openfang_task", json!({ "task": task, "reply": "Oslo" })).await;

    assert_eq!(answered["structuredContent"]["task"], task, "{answered}");
    assert!(texts(&answered).concat().contains("Oslo"), "{answered}");
    assert_eq!(tasks(&pair.far).await.len(), 1);
    pair.stop().await;
}

#[tokio::test]
async fn a_client_that_hears_no_progress_is_answered_in_time_though_the_agent_never_says_anything() {
    let silent = RawAgent::with_card(false, |_, _| std::future::pending::<Vec<u8>>()).await;
    let home = TestHome::new();
    let mcp = McpConfig { hold_secs: 1, ..McpConfig::default() };
    let mut near = Config { mcp, ..config() };
    near.a2a.external_agents = vec![ExternalAgent::new("far".parse().unwrap(), silent.url())];
    let near = start(&home, near).await;
    let begun = tokio::time::Instant::now();

    let first = call(&near, "a2a_far", json!({ "message": "hi" })).await;
    let task = first["structuredContent"]["task"].clone();
    let later = call(&near, "openfang_task", json!({ "task": task, "wait_secs": 1 })).await;

    for result in [&first, &later] {
        assert_eq!(result["structuredContent"]["state"], "working", "{result}");
        assert!(texts(result)[0].contains("openfang_task"), "{result}");
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    near.stop().await;
}

/// The short form of an agent that works for five minutes and a client that waits for one: here it is five seconds and one.
#[tokio::test]
async fn an_agent_that_works_five_times_as_long_as_the_client_waits_is_asked_once_and_heard_within_seven_calls() {
    let script = "[[rules]]\nsteps = [{ chunk = \"begun \" }, { delay_ms = 5000 }, { chunk = \"done\" }]\n";
    let (far_home, near_home) = (TestHome::new().with_script("worker", &[], script), TestHome::new());
    let far = start(&far_home, config()).await;
    let mcp = McpConfig { hold_secs: 1, ..McpConfig::default() };
    let mut near = Config { mcp, ..config() };
    near.a2a.external_agents = vec![entry(&far)];
    let near = start(&near_home, near).await;

    let (mut calls, mut result) = (1, call(&near, "a2a_far", json!({ "message": "go" })).await);
    while result["structuredContent"]["state"] == "working" {
        let task = result["structuredContent"]["task"].clone();
        result = call(&near, "openfang_task", json!({ "task": task })).await;
        calls += 1;
    }

    assert!(texts(&result).concat().contains("begun done"), "{result}");
    assert!(calls <= 7, "{calls} calls");
    assert_eq!(tasks(&far).await.len(), 1, "the agent was sent one message");
    near.stop().await;
    far.stop().await;
}
