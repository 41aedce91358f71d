//! Versions that are not spoken, agents that are not there, and what is switched off or insisted on.

use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_testkit::http::Answer;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use serde_json::json;

use super::calls::{Call, every};
use super::hostile::{names, total};
use super::wire::{agents, ask, begin, code, config, request, said, server, until};

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

/// A server whose A2A is configured so, with a task that has ended.
async fn offering(a2a: A2aConfig) -> (TestHome, TestServer, Vec<Call>) {
    let home = agents(TestHome::new());
    let server = TestServer::start(home.boot_with(Config { a2a, ..config() }).start().unwrap()).await;
    let headed = server.client().with("a2a-extensions", "urn:one, urn:two");
    let task = begin(&headed, "steps", "go").await;
    until(&headed, &task, "TASK_STATE_COMPLETED").await;
    let calls = every(&names(&task, "steps"));
    (home, server, calls)
}

/// The code of a refusal over JSON-RPC and the routes of OpenFang's dialect, and the one that its reason stands for over HTTP+JSON.
fn refused_with(answer: &Answer) -> i64 {
    let error = &answer.json()["error"];
    match error["details"][0]["reason"].as_str() {
        Some("PUSH_NOTIFICATION_NOT_SUPPORTED") => -32003,
        Some("UNSUPPORTED_OPERATION") => -32004,
        Some("EXTENDED_AGENT_CARD_NOT_CONFIGURED") => -32007,
        Some("EXTENSION_SUPPORT_REQUIRED") => -32008,
        Some(other) => panic!("{other}"),
        None => error["code"].as_i64().unwrap_or_default(),
    }
}

#[tokio::test]
async fn what_is_switched_off_is_refused_in_every_dialect_with_its_own_code() {
    let off = A2aConfig { streaming: false, push_notifications: false, extended_card: false, ..config().a2a };
    let (_home, server, calls) = offering(off).await;
    let client = server.client();
    for call in calls {
        let expected = match call.method {
            Method::Stream | Method::Subscribe => -32004,
            Method::SetPush | Method::GetPush | Method::ListPush | Method::DeletePush => -32003,
            // 1.0 says that it is not declared.
            Method::ExtendedCard if call.dialect == Dialect::V10 => -32004,
            Method::ExtendedCard => -32007,
            Method::Send | Method::Get | Method::List | Method::Cancel => continue,
        };
        let answer = call.send(&client).await;
        assert_eq!(refused_with(&answer), expected, "{:?} {} {}: {answer:?}", call.dialect, call.method, call.path);
        assert!(matches!(answer.status, 200 | 400), "{} {answer:?}", call.path);
    }
    let pushed = json!({
        "message": said("m", "hello"),
        "configuration": {"taskPushNotificationConfig": {"url": "https://example.org/"}}
    });
    assert_eq!(ask(&client, "SendMessage", pushed).await["error"]["code"], -32003);
    assert_eq!(total(&client).await, 1, "and nothing began");
    server.stop().await;
}

#[tokio::test]
async fn an_extension_that_is_insisted_on_must_be_named_by_every_call() {
    let required = vec!["urn:one".to_owned(), "urn:two".to_owned()];
    let (_home, server, calls) = offering(A2aConfig { required_extensions: required, ..config().a2a }).await;
    for call in calls {
        for named in ["", "urn:one", "urn:one,urn:twofold"] {
            let answer = call.send(&server.client().with("a2a-extensions", named)).await;
            assert_eq!(refused_with(&answer), -32008, "{:?} {} {named:?}: {answer:?}", call.dialect, call.path);
        }
        for header in ["a2a-extensions", "x-a2a-extensions"] {
            let answer = call.send(&server.client().with(header, "urn:two ,urn:one")).await;
            assert!(!answer.body.contains("EXTENSION") && !answer.body.contains("-32008"), "{}: {answer:?}", call.path);
        }
    }
    server.stop().await;
}
