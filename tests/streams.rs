//! Events as they come, and again from where a reader left off.

use std::time::Duration;

use openfang_store::{Retention, Sqlite};
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::json;

use crate::http::any_port;

const TALKER: &str = r#"
    [[rules]]
    when = { text = "talk" }
    steps = [{ chunk = "a" }, { chunk = "b" }, { chunk = "c" }]
    [[rules]]
    when = { text = "wait" }
    steps = [{ chunk = "a" }, { wait_for_cancel = true }]
    [[rules]]
    when = { text = "plain" }
    steps = [{ reply = "no task" }]
"#;

async fn server() -> (TestHome, TestServer) {
    let home = TestHome::new().with_script("talker", &[], TALKER);
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    (home, server)
}

#[tokio::test]
async fn a_message_can_be_followed_to_its_end() {
    let (_home, server) = server().await;
    let body = json!({"text": "talk"}).to_string();

    let events = server
        .client()
        .stream("POST", "/api/agents/talker/message", Some(&body))
        .await
        .events()
        .await;

    assert_eq!(events[0].0, "task");
    assert!(
        events
            .iter()
            .any(|(name, _, data)| name == "artifact" && data["body"]["artifact"]["append"] == true)
            || events[0].2["task"]["artifacts"].is_array()
    );
    let (name, id, data) = events.last().unwrap();
    assert_eq!((name.as_str(), &data["body"]["status"]["state"]), ("status", &json!("completed")));
    assert!(id.ends_with(&format!(":{}", data["seq"])));
    let reply = json!({"text": "plain"}).to_string();
    let events = server
        .client()
        .stream("POST", "/api/agents/talker/message", Some(&reply))
        .await
        .events()
        .await;
    assert_eq!((events.len(), events[0].0.as_str()), (1, "reply"));
    server.stop().await;
}

#[tokio::test]
async fn a_reader_that_resumes_gets_exactly_the_rest() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = client.post("/api/agents/talker/message", &json!({"text": "talk"})).await.json()["task"].clone();
    let path = format!("/api/tasks/{}/events", task["id"].as_str().unwrap());
    let from = async |seq: usize| {
        let resumed = client.clone().with("last-event-id", &format!("{}:{seq}", task["id"].as_str().unwrap()));
        resumed.stream("GET", &path, None).await.events().await
    };

    let all = from(0).await;
    let seqs: Vec<_> = all.iter().map(|(_, _, data)| data["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=all.len() as u64).collect::<Vec<_>>());
    for seen in 0..=all.len() {
        assert_eq!(from(seen).await, all[seen..], "after {seen}");
    }
    let snapshot = client.stream("GET", &path, None).await.events().await;
    assert_eq!((snapshot.len(), snapshot[0].0.as_str()), (1, "task"), "a finished task is shown and the stream ends");
    let foreign = client
        .clone()
        .with("last-event-id", "00000000-0000-0000-0000-000000000001:1")
        .get(&path)
        .await;
    assert_eq!(foreign.status, 400);
    server.stop().await;
}

#[tokio::test]
async fn a_reader_that_resumes_after_the_events_were_folded_gets_the_task_and_the_end() {
    let (home, server) = server().await;
    let client = server.client();
    let body = json!({"text": "talk"}).to_string();
    let events = client.stream("POST", "/api/agents/talker/message", Some(&body)).await.events().await;
    let (_, last, _) = events.last().unwrap();
    let (task, seq) = last.rsplit_once(':').unwrap();
    let elsewhere =
        Sqlite::open(&home.home().database(), "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000".parse().unwrap()).unwrap();
    let rule = Retention { fold_after: Duration::ZERO, ..Retention::FOREVER };
    let later = serde_json::from_value(json!("2100-01-01T00:00:00Z")).unwrap();
    let retained = elsewhere.stores().tasks.retain(rule, later).await.unwrap();
    assert_eq!(retained.folded, 1);

    for seen in 0..=seq.parse::<u64>().unwrap() {
        let resumed = client.clone().with("last-event-id", &format!("{task}:{seen}"));
        let rest = resumed.stream("GET", &format!("/api/tasks/{task}/events"), None).await.events().await;

        let names: Vec<(&str, &str)> = rest.iter().map(|(name, id, _)| (name.as_str(), id.as_str())).collect();
        let expected = if format!("{seen}") == seq { vec![] } else { vec![("task", last.as_str())] };
        assert_eq!(names, expected, "after {seen}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_reader_that_leaves_does_not_stop_the_work() {
    let (_home, server) = server().await;
    let client = server.client();
    let body = json!({"text": "wait"}).to_string();
    let mut stream = client.stream("POST", "/api/agents/talker/message", Some(&body)).await;
    let (_, _, first) = stream.event().await.unwrap();
    let id = first["task"]["id"].as_str().unwrap().to_owned();
    drop(stream);

    while client.get(&format!("/api/tasks/{id}")).await.json()["task"]["status"]["state"] != "working" {
        tokio::task::yield_now().await;
    }
    let mut watcher = client.stream("GET", &format!("/api/tasks/{id}/events"), None).await;
    watcher.event().await.unwrap();
    let canceled = client.send("POST", &format!("/api/tasks/{id}/cancel"), None).await;
    assert_eq!(canceled.json()["task"]["status"]["state"], "canceled");
    assert_eq!(watcher.events().await.last().unwrap().2["body"]["status"]["state"], "canceled");
    server.stop().await;
}

#[tokio::test]
async fn one_owner_has_only_so_many_streams() {
    let home = TestHome::new().with_script("talker", &[], TALKER);
    let config = Config { limits: Limits { streams_per_owner: 1, ..Limits::default() }, ..any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let task = client
        .post("/api/agents/talker/message", &json!({"text": "wait", "returnImmediately": true}))
        .await
        .json();
    let path = format!("/api/tasks/{}/events", task["task"]["id"].as_str().unwrap());
    let mut first = client.stream("GET", &path, None).await;
    first.event().await.unwrap();

    let second = client.get(&path).await;

    assert_eq!((second.status, second.json()["error"]["code"].as_str()), (429, Some("too_many_streams")));
    assert!(second.header("retry-after").is_some());
    let third = client
        .clone()
        .with("accept", "text/event-stream")
        .post("/api/agents/talker/message", &json!({"text": "wait"}))
        .await;
    assert_eq!(third.status, 429);
    assert_eq!(client.get("/api/tasks").await.json()["total"], 1, "a message whose stream was refused began nothing");
    server
        .kernel
        .cancel_task(
            &openfang_testkit::callers::local(&server.kernel),
            task["task"]["id"].as_str().unwrap().parse().unwrap(),
        )
        .await
        .unwrap();
    server.stop().await;
}
