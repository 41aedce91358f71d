//! Agents that push: a push is only a reason to look at the task, whatever it says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openfang_testkit::{RawAgent, TestHome, TestServer, callers, raw_agent};
use openfang_types::config::{A2aConfig, Config, ExternalAgent};
use openfang_types::ids::TaskId;
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::support::artifact_text;

/// How long a condition may take. Successful tests never wait this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent without streams that can push or not, and whose task is done when the test says so.
async fn agent(can_push: bool, is_done: Arc<AtomicBool>) -> RawAgent {
    RawAgent::new(move |post| {
        let is_done = is_done.load(Ordering::SeqCst);
        async move {
            if post.line.starts_with("GET ") {
                let host = post.header("host").unwrap_or_default().to_owned();
                let mut card = raw_agent::card(&format!("http://{host}/rpc"), false);
                card["capabilities"]["pushNotifications"] = can_push.into();
                return if post.line.ends_with("/agent-card.json") {
                    raw_agent::ok(&card)
                } else {
                    raw_agent::status(404)
                };
            }
            let request: Value = serde_json::from_str(&post.body).unwrap_or_default();
            let mut task = raw_agent::task("t1", "TASK_STATE_COMPLETED", "the result");
            if !is_done {
                task = raw_agent::task("t1", "TASK_STATE_WORKING", "");
                task["artifacts"] = json!([]);
            }
            match request["method"].as_str().unwrap_or_default() {
                "SendMessage" => raw_agent::result(&json!({ "task": task })),
                "GetTask" => raw_agent::result(&task),
                _ => raw_agent::error(-32_004, "not supported"),
            }
        }
    })
    .await
}

async fn near(agent: &RawAgent, push: bool) -> (TestServer, TestHome) {
    let home = TestHome::new();
    let entry = ExternalAgent { push, ..ExternalAgent::new("far".parse().unwrap(), agent.url()) };
    let mut near = Config { public_url: Some("https://fang.example".to_owned()), ..config() };
    near.a2a.external_agents = vec![entry];
    (start(&home, near).await, home)
}

/// Submits a message and returns the task.
async fn submit(near: &TestServer) -> TaskId {
    let caller = callers::operator(&near.kernel);
    let message = near.kernel.message("go");
    match near.kernel.submit(&caller, &"far".parse().unwrap(), message).await.unwrap() {
        openfang_kernel::Reply::Task(task) => task.id,
        openfang_kernel::Reply::Message(message) => panic!("{message:?}"),
    }
}

async fn heard(agent: &RawAgent, method: &str, count: usize) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while agent.calls(method).len() < count {
        assert!(tokio::time::Instant::now() < deadline, "no {method}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A push with a secret.
async fn push(near: &TestServer, path: &str, (header, value): (&str, &str)) -> u16 {
    let forged = json!({ "statusUpdate": { "taskId": "t1", "status": { "state": "TASK_STATE_FAILED" } } });
    near.client().with(header, value).post(path, &forged).await.status
}

#[tokio::test]
async fn a_push_with_the_secret_makes_the_task_be_looked_at_and_its_words_count_for_nothing() {
    let is_done: Arc<AtomicBool> = Arc::default();
    let agent = agent(true, Arc::clone(&is_done)).await;
    let (near, _home) = near(&agent, true).await;
    let task = submit(&near).await;
    heard(&agent, "SendMessage", 1).await;
    let sent = agent.calls("SendMessage")[0].clone();
    let wanted = &sent["params"]["configuration"]["taskPushNotificationConfig"];
    let url = wanted["url"].as_str().unwrap_or_else(|| panic!("{sent}"));
    let path = url.strip_prefix("https://fang.example").unwrap();
    let token = wanted["token"].as_str().unwrap();
    assert_eq!(path.strip_prefix("/a2a/push/").map(str::len), Some(32), "128 bits: {path}");
    assert_eq!(wanted["authentication"], json!({ "scheme": "Bearer", "credentials": token }));
    // By now it is looked at every few seconds only.
    heard(&agent, "GetTask", 6).await;

    let unknown = format!("/a2a/push/{}", "0".repeat(32));
    assert_eq!(push(&near, &unknown, ("x-a2a-notification-token", token)).await, 404);
    assert_eq!(push(&near, path, ("x-a2a-notification-token", "wrong")).await, 401);
    assert_eq!(push(&near, path, ("authorization", "Bearer wrong")).await, 401);
    assert_eq!(near.client().post(path, &json!({})).await.status, 401);
    assert_eq!(near.client().with("x-a2a-notification-token", token).get(path).await.status, 405);
    let large = json!({ "x": "a".repeat(1024 * 1024) });
    assert_eq!(near.client().with("x-a2a-notification-token", token).post(path, &large).await.status, 413);
    let looks = agent.calls("GetTask").len();
    is_done.store(true, Ordering::SeqCst);
    assert_eq!(push(&near, path, ("x-a2a-notification-token", token)).await, 204);

    let caller = callers::operator(&near.kernel);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let done = loop {
        let task = near.kernel.task(&caller, task).await.unwrap();
        if task.status.state.is_terminal() {
            break task;
        }
        assert!(tokio::time::Instant::now() < deadline, "{task:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    assert_eq!((done.status.state, artifact_text(&done, "answer")), (TaskState::Completed, "the result".to_owned()));
    assert!(agent.calls("GetTask").len() <= looks + 2, "the agent was asked because of the push");
    assert_eq!(push(&near, path, ("x-a2a-notification-token", token)).await, 404, "nobody waits for it any more");
    near.stop().await;
}

#[tokio::test]
async fn an_agent_is_told_where_to_push_only_if_that_is_wanted_and_it_can() {
    for (wanted, can_push) in [(false, true), (true, false)] {
        let agent = agent(can_push, Arc::new(AtomicBool::new(true))).await;
        let (near, _home) = near(&agent, wanted).await;
        submit(&near).await;
        heard(&agent, "SendMessage", 1).await;
        let sent = agent.calls("SendMessage")[0].to_string();
        assert!(!sent.contains("/a2a/push/"), "{wanted} {can_push}: {sent}");
        near.stop().await;
    }
}

#[tokio::test]
async fn another_openfang_pushes_with_its_signature_and_the_result_comes_with_the_push() {
    let script = "[[rules]]\nsteps = [{ status = { state = \"working\", message = \"on it\" } }, { delay_ms = 7000 }, { chunk = \"done\" }]\n";
    let far_home = TestHome::new().with_script("worker", &[], script);
    let mut far = Config { a2a: A2aConfig { enabled: true, streaming: false, ..A2aConfig::default() }, ..config() };
    far.egress.allow = vec!["127.0.0.0/8".to_owned()];
    let far = start(&far_home, far).await;
    // The address has to be known before the server starts, because agents are told of it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let home = TestHome::new();
    let mut near = Config {
        public_url: Some(format!("http://127.0.0.1:{port}")),
        api_listen: ([127, 0, 0, 1], port).into(),
        ..config()
    };
    let url = format!("http://{}/a2a/agents/worker", far.address);
    near.a2a.external_agents = vec![ExternalAgent { push: true, ..ExternalAgent::new("far".parse().unwrap(), url) }];
    let near = start(&home, near).await;
    let caller = callers::operator(&near.kernel);

    let begun = std::time::Instant::now();
    let task = crate::support::send(&near.kernel, &caller, "far", "go").await;

    // By polling alone it would be looked at after 6.3 and then after 12.7 seconds.
    assert_eq!(task.status.state, TaskState::Completed, "{task:?}");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    near.stop().await;
    far.stop().await;
}
