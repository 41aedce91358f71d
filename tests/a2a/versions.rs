//! Versions that are not spoken, and agents that are not there.

use serde_json::json;

use super::hostile::total;
use super::wire::{ask, begin, code, request, said, server};

#[tokio::test]
async fn versions_that_are_not_spoken_are_refused_and_no_version_is_an_old_one() {
    let (_home, server) = server().await;
    let client = server.client();
    for version in ["9.9", "0.5", "2.0", "1.1", "one", "1.0.0.0.0x", "\"1.0\"", "0"] {
        let client = client.clone().with("a2a-version", version);
        let rpc = client.post("/a2a", &request(1, "GetTask", json!({"id": "x"}))).await;
        let rest = client.get("/a2a/rest/tasks/x").await;
        let expected = if version.starts_with("1.0.") { -32001 } else { -32009 };
        assert_eq!(code(&rpc), expected, "{version}");
        assert_eq!(rest.status, if expected == -32009 { 400 } else { 404 }, "{version}: {rest:?}");
    }
    assert_eq!(code(&client.post("/a2a?A2A-Version=9.9", &request(1, "GetTask", json!({"id": "x"}))).await), -32009);
    let empty = client.clone().with("a2a-version", "");
    let old = json!({"message": {"kind": "message", "messageId": "old", "role": "user", "parts": [{"kind": "text", "text": "/current_time"}]}});
    let sent = empty.post("/a2a/agents/worker", &request(1, "message/send", old.clone())).await.json();
    assert_eq!(sent["result"]["kind"], "task", "{sent}");
    // A body of 0.3 where 1.0 is spoken has a part that says nothing.
    let rest = client.clone().with("a2a-version", "1.0").post("/a2a/agents/worker/message:send", &json!({"message": {"kind": "message", "messageId": "old-2", "role": "user", "parts": [{"kind": "file", "file": {"bytes": "aGk="}}]}})).await;
    assert_eq!((rest.status, rest.json()["error"]["status"].clone()), (400, json!("INVALID_ARGUMENT")), "{rest:?}");
    // The method says which dialect it is, whatever the header says.
    let newest = client
        .clone()
        .with("a2a-version", "0.3")
        .post("/a2a", &request(1, "GetTask", json!({"id": "x"})))
        .await;
    assert_eq!(code(&newest), -32001);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_not_guessed() {
    let (_home, server) = server().await;
    let client = server.client();
    let message = said("m", "hello");
    for tenant in ["nobody", "../worker", "WORKER", "worker ", "v1", "tasks", "\u{0}"] {
        let sent = ask(&client, "SendMessage", json!({"tenant": tenant, "message": message})).await;
        assert_eq!(sent["error"]["code"], -32602, "{tenant}: {sent}");
    }
    let long = ask(&client, "SendMessage", json!({"tenant": "x".repeat(10_000), "message": message})).await;
    assert!(long["error"]["code"] == -32602 && long.to_string().len() < 1_000, "{long}");
    let crossed = client
        .post("/a2a/agents/worker", &request(1, "SendMessage", json!({"tenant": "asks", "message": message})))
        .await;
    assert_eq!(code(&crossed), -32602);
    for path in ["/a2a/agents/nobody", "/a2a/agents/nobody/message:send", "/a2a/rest/nobody/message:send"] {
        assert_eq!(client.post(path, &json!({"message": message})).await.status, 404, "{path}");
    }
    let task = begin(&client, "waits", "go").await;
    let elsewhere = client.get(&format!("/a2a/agents/worker/tasks/{task}")).await;
    assert_eq!(elsewhere.status, 404, "another agent's task");
    assert_eq!(total(&client).await, 1);
    server.stop().await;
}
