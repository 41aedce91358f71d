//! One owner's storm: it is refused in the protocol's words, nothing that lives is thrown away for it, and others do not
//! feel it.

use futures_util::future::join_all;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::json;

use super::isolation::user;
use super::wire::{agents, ask, config, fresh, limits, said};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_task_beyond_all_that_may_live_is_refused_and_all_that_live_go_on() {
    const LIVE: usize = 1_000;
    const LANES: usize = 20;
    assert_eq!(Limits::default().live_tasks_per_owner, LIVE);
    let home = agents(TestHome::new());
    let limits = Limits { rate_per_principal: 100_000, rate_per_principal_burst: 100_000, ..limits() };
    let server = TestServer::start(home.boot_with(Config { limits, ..config() }).start().unwrap()).await;
    let (ada, bob) = (user(&server, "ada").await, user(&server, "bob").await);
    // Tasks that wait for their owner are alive.
    let message =
        || json!({"tenant": "waits", "message": said(&fresh(), "go"), "configuration": {"returnImmediately": true}});
    let lane = async |_| {
        for _ in 0..LIVE / LANES {
            let sent = ask(&ada, "SendMessage", message()).await;
            assert!(sent["result"]["task"]["id"].is_string(), "{sent}");
        }
    };
    join_all((0..LANES).map(lane)).await;

    for method in ["SendMessage", "SendStreamingMessage"] {
        let refused = ask(&ada, method, message()).await;
        assert_eq!(refused["error"]["code"], -32000, "{refused}");
        assert_eq!(refused["error"]["data"][0]["reason"], "RESOURCE_EXHAUSTED");
    }
    let rest = ada.post("/a2a/rest/waits/message:send", &json!({"message": said(&fresh(), "go")})).await;
    assert_eq!((rest.status, &rest.json()["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")), "{rest:?}");
    let openfang = json!({"message": {"role": "user", "parts": [{"type": "text", "text": "go"}]}});
    let openfang = ada.post("/a2a/tasks/send", &openfang).await;
    assert_eq!(openfang.status, 429, "{openfang:?}");
    let listed = ask(&ada, "ListTasks", json!({})).await["result"].clone();
    assert_eq!(listed["totalSize"], LIVE);
    for state in ["TASK_STATE_CANCELED", "TASK_STATE_FAILED", "TASK_STATE_COMPLETED"] {
        assert_eq!(ask(&ada, "ListTasks", json!({"status": state})).await["result"]["totalSize"], 0, "{state}");
    }
    let others = ask(&bob, "SendMessage", message()).await;
    assert!(others["result"]["task"]["id"].is_string(), "{others}");
    // What ends makes room.
    let one = listed["tasks"][0]["id"].clone();
    ask(&ada, "CancelTask", json!({"id": one})).await;
    let sent = ask(&ada, "SendMessage", message()).await;
    assert!(sent["result"]["task"]["id"].is_string(), "{sent}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_too_often_is_told_to_wait_and_others_are_not() {
    let home = agents(TestHome::new());
    let limits = Limits { rate_per_principal: 1, rate_per_principal_burst: 50, ..limits() };
    let server = TestServer::start(home.boot_with(Config { limits, ..config() }).start().unwrap()).await;
    let (ada, bob) = (user(&server, "ada").await, user(&server, "bob").await);
    let mut refused = 0;
    for _ in 0..200 {
        let body = super::wire::request(1, "SendMessage", json!({"tenant": "steps", "message": said(&fresh(), "go")}));
        let answer = ada.post("/a2a", &body).await;
        match answer.status {
            200 => {}
            429 => {
                assert!(answer.header("retry-after").is_some());
                refused += 1;
            }
            _ => panic!("{answer:?}"),
        }
    }
    assert!(refused >= 100, "{refused}");
    assert_eq!(ask(&bob, "ListTasks", json!({})).await["result"]["totalSize"], 0);
    server.stop().await;
}

#[tokio::test]
async fn what_is_refused_at_the_door_is_said_as_the_door_speaks() {
    let home = agents(TestHome::new());
    let limits = Limits { rate_per_principal: 1, rate_per_principal_burst: 20, body_bytes: 10_000, ..limits() };
    let server = TestServer::start(home.boot_with(Config { limits, ..config() }).start().unwrap()).await;
    let ada = user(&server, "ada").await;
    let huge = json!({"text": "x".repeat(20_000)}).to_string();
    let (rpc, rest) = (["/", "/a2a", "/a2a/agents/worker"], ["/a2a/rest/message:send", "/a2a/agents/worker/v1/tasks"]);
    let openfang = "/a2a/tasks/send";

    for path in rpc {
        let answer = ada.send("POST", path, Some(&huge)).await;
        let body = answer.json();
        assert_eq!((answer.status, answer.header("content-type")), (413, Some("application/json")), "{answer:?}");
        assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32600)), "{path}: {body}");
        assert!(body["id"].is_null() && body["error"]["message"].as_str().unwrap().contains("10000"), "{path}: {body}");
    }
    for path in rest {
        let error = ada.send("POST", path, Some(&huge)).await.json()["error"].take();
        assert_eq!((&error["code"], &error["status"]), (&json!(413), &json!("INVALID_ARGUMENT")), "{path}: {error}");
        assert_eq!(error["details"][0]["reason"], "INVALID_REQUEST", "{path}: {error}");
    }
    assert_eq!(ada.send("POST", openfang, Some(&huge)).await.json()["error"]["code"], -32600);

    while ada.get("/api/me").await.status == 200 {}
    for path in rpc {
        let answer = ada.post(path, &super::wire::request(7, "ListTasks", json!({}))).await;
        let body = answer.json();
        assert_eq!((answer.status, answer.header("retry-after").is_some()), (429, true), "{path}: {answer:?}");
        assert_eq!((&body["id"], &body["error"]["code"]), (&json!(null), &json!(-32000)), "{path}: {body}");
    }
    for path in rest {
        let answer = ada.post(path, &json!({})).await;
        assert_eq!((answer.status, answer.header("retry-after").is_some()), (429, true), "{path}: {answer:?}");
        assert_eq!(answer.json()["error"]["status"], "RESOURCE_EXHAUSTED", "{path}: {answer:?}");
    }
    assert_eq!(ada.post(openfang, &json!({})).await.json()["error"]["code"], -32000);
    let house = ada.get("/api/me").await;
    assert_eq!(
        (house.status, house.json()["error"]["code"].as_str()),
        (429, Some("rate_limited")),
        "elsewhere as ever"
    );
    let stranger = server.client().post("/a2a", &json!({})).await;
    assert_eq!((stranger.status, stranger.json()["error"]["code"].as_str()), (401, Some("unauthorized")));
    server.stop().await;
}
