//! What was written is taken over, without a restart.

use serde_json::json;

use super::fixture::{
    DEFAULTS, UNWATCHED, add_agent, agents, operator, reload, remove_agent, replace, running, settings, until,
};

#[test]
fn an_agent_that_is_written_changed_and_removed_is_taken_over_by_itself() {
    let (openfang, _daemon) = running(DEFAULTS);
    add_agent(&openfang, "late", "get_greeting");
    until("the new agent is there", || (agents(&openfang) == ["late", "starter"]).then_some(()));
    assert!(openfang.run(&["agent", "send", "late", "Ada"]).stdout.contains("Hello, Ada!"));

    add_agent(&openfang, "late", "current_time");
    until("it is another one", || {
        openfang
            .run(&["agent", "show", "late"])
            .stdout
            .contains("calls current_time")
            .then_some(())
    });

    remove_agent(&openfang, "late");
    until("it is gone", || (agents(&openfang) == ["starter"]).then_some(()));
}

#[tokio::test]
async fn listeners_hear_of_an_agent_that_is_gone_and_its_card_goes_too() {
    let config = format!("{UNWATCHED}[a2a]\nenabled = true\n");
    let (openfang, daemon) = running(&config);
    add_agent(&openfang, "late", "get_greeting");
    reload(&openfang);
    let client = operator(&openfang, &daemon);
    let card = async || client.get("/a2a/agents/late/.well-known/agent-card.json").await.status;
    assert_eq!(card().await, 200);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let begun = client.post("/mcp", &hello).await;
    let client = client.clone().with("mcp-session-id", begun.header("mcp-session-id").unwrap());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert!(client.post("/mcp", &list).await.body.contains("openfang_agent_late"));
    let mut listening = client.stream("GET", "/mcp", None).await;

    remove_agent(&openfang, "late");
    assert_eq!(reload(&openfang)["agents"]["removed"], json!(["late"]));

    let (mut tools, mut prompts) = (false, false);
    while !(tools && prompts) {
        let line = listening.next().await.unwrap();
        tools |= line.contains("notifications/tools/list_changed");
        prompts |= line.contains("notifications/prompts/list_changed");
    }
    assert!(!client.post("/mcp", &list).await.body.contains("openfang_agent_late"));
    assert_eq!(card().await, 404);
}

#[tokio::test]
async fn a_running_task_keeps_the_agent_it_began_with() {
    let (openfang, daemon) = running(UNWATCHED);
    openfang
        .write("agents/waits/agent.toml", "name = \"waits\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n");
    openfang
        .write("agents/waits/script.toml", "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]\n");
    assert_eq!(reload(&openfang)["agents"]["added"], json!(["waits"]));
    let client = operator(&openfang, &daemon);
    let body = json!({"text": "go", "returnImmediately": true});
    let task = client.post("/api/agents/waits/message", &body).await.json()["task"].clone();
    let id = task["id"].as_str().unwrap();

    remove_agent(&openfang, "waits");
    reload(&openfang);

    assert_eq!(client.post("/api/agents/waits/message", &body).await.status, 404);
    let state = client.get(&format!("/api/tasks/{id}")).await.json()["task"]["status"]["state"].clone();
    assert!(state == "working" || state == "submitted", "{state}");
    let canceled = client.post(&format!("/api/tasks/{id}/cancel"), &json!({})).await.json();
    assert_eq!(canceled["task"]["status"]["state"], "canceled", "{canceled}");
}

#[tokio::test]
async fn another_key_is_the_key_at_once_and_its_name_alone_is_written_down() {
    let key = |key: &str| format!("api_key = \"{key}\"\n{UNWATCHED}");
    let (openfang, daemon) = running(&key("the-first-key-of-all"));
    let asks = async |key: &str| daemon.client().bearer(key).get("/api/me").await.status;
    assert_eq!((asks("the-first-key-of-all").await, asks("the-other-key-of-all").await), (200, 401));

    replace(&openfang, "config.toml", &key("the-other-key-of-all"));
    assert_eq!(reload(&openfang)["changed"], json!(["api_key"]));

    assert_eq!((asks("the-first-key-of-all").await, asks("the-other-key-of-all").await), (401, 200));
    let log = openfang.run(&["audit", "tail"]).stdout;
    assert!(log.contains("configuration: api_key") && !log.contains("other-key"), "{log}");
}

#[test]
fn what_needs_a_restart_is_said_and_stays_as_it_is() {
    let (openfang, _daemon) = running(UNWATCHED);
    replace(&openfang, "config.toml", &format!("{UNWATCHED}[limits]\nconnections = 77\nbody_bytes = 4_000_000\n"));

    let report = reload(&openfang);

    assert_eq!(report["changed"], json!(["limits.body_bytes"]));
    assert_eq!(report["needsRestart"], json!(["limits.connections"]));
    assert_eq!(settings(&openfang)["needsRestart"], json!(["limits.connections"]));
    let status = openfang.run(&["status"]).stdout;
    assert!(status.contains("limits.connections"), "{status}");
}
