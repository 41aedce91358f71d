//! The life of a task as peers may try to bend it: an end stays the end, work is done once, and it goes on without its
//! reader.

use std::time::Duration;

use openfang_testkit::http::{Client, raw};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{agents, ask, begin, code, config, fresh, limits, request, said, server, state, until};

/// A message to a task of an agent.
async fn tell(client: &Client, agent: &str, message: Value) -> Value {
    ask(client, "SendMessage", json!({"tenant": agent, "message": message})).await
}

fn to(task: &str, text: &str) -> Value {
    let mut message = said(&fresh(), text);
    message["taskId"] = json!(task);
    message
}

#[tokio::test]
async fn in_0_1_a_message_that_is_sent_again_leads_to_the_task_that_it_made() {
    let home = agents(TestHome::new());
    for (agent, state) in [("steps", "completed"), ("fails", "failed")] {
        let config = Config { default_agent: Some(agent.parse().unwrap()), ..config() };
        let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
        let client = server.client();
        let params = |text: &str| json!({"id": agent, "sessionId": "s", "message": {"role": "user", "parts": [{"type": "text", "text": text}]}});
        let first = ask(&client, "tasks/send", params("go")).await["result"].clone();
        assert_eq!(first["status"]["state"], state, "{first}");

        assert_eq!(ask(&client, "tasks/send", params("go")).await["result"], first);
        assert_eq!(ask(&client, "tasks/send", params("go on")).await["error"]["code"], -32004);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_refusal_names_the_member_and_its_status_in_every_dialect() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    let message = json!({"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]});
    let length = json!({"message": message, "configuration": {"historyLength": -1}});
    for (method, params, member) in [
        ("message/send", length.clone(), "`configuration.historyLength`: "),
        ("SendMessage", length, "`configuration.historyLength`: "),
        ("GetTask", json!({"id": task, "historyLength": "x"}), "`historyLength`: "),
    ] {
        let refused = ask(&client, method, params).await["error"].clone();
        assert_eq!(refused["code"], -32602, "{method}");
        assert!(refused["message"].as_str().unwrap().starts_with(member), "{method}: {refused}");
    }
    let missing = ask(&client, "GetTaskPushNotificationConfig", json!({"taskId": task, "id": "zz"})).await;
    assert_eq!(missing["error"]["code"], -32001);
    assert!(missing["error"]["message"].as_str().unwrap().contains("push configuration"), "{missing}");
    let put = client.send("PUT", "/a2a/rest/message:send", Some("{}")).await;
    assert_eq!((put.status, put.json()["error"]["code"].clone()), (405, json!(405)));
    server.stop().await;
}

#[tokio::test]
async fn a_task_that_ended_or_works_takes_no_message_and_an_end_is_not_canceled() {
    let (_home, server) = server().await;
    let client = server.client();
    let done = begin(&client, "steps", "go").await;
    until(&client, &done, "TASK_STATE_COMPLETED").await;
    let busy = begin(&client, "waits", "go").await;
    let told = tell(&client, "steps", to(&done, "more")).await;
    assert_eq!(told["error"]["code"], -32004, "{told}");
    assert_eq!(told["error"]["data"][0]["reason"], "UNSUPPORTED_OPERATION");
    let told = tell(&client, "waits", to(&busy, "more")).await;
    assert_eq!(told["error"]["code"], -32004, "{told}");
    for method in ["SendMessage", "SendStreamingMessage"] {
        let unknown = json!({"message": to("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "more")});
        assert_eq!(ask(&client, method, unknown).await["error"]["code"], -32001);
        let elsewhere = json!({"tenant": "steps", "message": to(&busy, "more")});
        assert_eq!(ask(&client, method, elsewhere).await["error"]["code"], -32001, "another agent's task");
    }
    assert_eq!(
        ask(&client, "CancelTask", json!({"id": busy})).await["result"]["status"]["state"],
        "TASK_STATE_CANCELED"
    );
    for task in [&busy, &done] {
        assert_eq!(ask(&client, "CancelTask", json!({"id": task})).await["error"]["code"], -32002);
        let rest = client.send("POST", &format!("/a2a/rest/tasks/{task}:cancel"), None).await;
        assert_eq!(
            (rest.status, rest.json()["error"]["details"][0]["reason"].clone()),
            (400, json!("TASK_NOT_CANCELABLE"))
        );
        let older = ask(&client, "tasks/cancel", json!({"id": task})).await;
        assert_eq!(older["error"]["code"], -32002, "{older}");
    }
    let told = tell(&client, "waits", to(&busy, "more")).await;
    assert_eq!(told["error"]["code"], -32004, "{told}");
    assert_eq!(state(&client, &busy).await, "TASK_STATE_CANCELED");
    server.stop().await;
}

#[tokio::test]
async fn a_conversation_is_that_of_its_task() {
    let (_home, server) = server().await;
    let client = server.client();
    let asked = tell(&client, "asks", said("q", "go")).await["result"]["task"].clone();
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let task = asked["id"].as_str().unwrap();
    let mut wrong = to(task, "five");
    wrong["contextId"] = json!("another");
    let refused = tell(&client, "asks", wrong).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(state(&client, task).await, "TASK_STATE_INPUT_REQUIRED");
    // Without the agent's name it goes to the agent whose task it is.
    let mut right = to(task, "five");
    right["contextId"] = asked["contextId"].clone();
    let answered = ask(&client, "SendMessage", json!({"message": right})).await["result"]["task"].clone();
    assert_eq!(
        (&answered["id"], &answered["status"]["state"]),
        (&json!(task), &json!("TASK_STATE_COMPLETED")),
        "{answered}"
    );
    server.stop().await;
}

#[tokio::test]
async fn the_same_message_again_is_the_same_task_and_the_work_is_done_once() {
    let (_home, server) = server().await;
    let client = server.client();
    let message = said("again", "/get_counter");
    let mut ids = Vec::new();
    for round in 0..3 {
        let sent = tell(&client, "worker", message.clone()).await["result"]["task"].clone();
        assert_eq!(sent["artifacts"][0]["parts"][0]["text"], "1", "round {round}: {sent}");
        ids.push(sent["id"].clone());
        let rest = client.post("/a2a/rest/worker/message:send", &json!({"message": message})).await.json();
        ids.push(rest["task"]["id"].clone());
        let old = json!({"message": {"kind": "message", "messageId": "again", "role": "user", "parts": [{"kind": "text", "text": "/get_counter"}]}});
        let older = client.post("/a2a/agents/worker", &request(1, "message/send", old)).await.json();
        ids.push(older["result"]["id"].clone());
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let together =
        async || tell(&client, "worker", said("together", "/get_counter")).await["result"]["task"]["id"].clone();
    let (a, b, c, d) = tokio::join!(together(), together(), together(), together());
    assert!(a.is_string() && a == b && b == c && c == d, "{a} {b} {c} {d}");
    let next = tell(&client, "worker", said("next", "/get_counter")).await;
    assert_eq!(next["result"]["task"]["artifacts"][0]["parts"][0]["text"], "3", "{next}");
    server.stop().await;
}

#[tokio::test]
async fn work_goes_on_when_the_one_who_waits_for_it_leaves() {
    let home = agents(TestHome::new()).with_script(
        "slow",
        &["*"],
        "[[rules]]\nsteps = [{ tool = { name = \"probe_hang\" } }]\n",
    );
    let hang = Probe::hang();
    let server = TestServer::start(home.boot_with(config()).tool(hang.boxed()).start().unwrap()).await;
    let client = server.client();
    for (number, (method, door)) in [("SendMessage", "/a2a"), ("SendStreamingMessage", "/a2a")].into_iter().enumerate()
    {
        let body = request(1, method, json!({"tenant": "slow", "message": said(&fresh(), "go")})).to_string();
        let head = format!(
            "POST {door} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len(),
        );
        let gone = raw(server.address, head.as_bytes()).await;
        while hang.calls() <= number {
            tokio::task::yield_now().await;
        }
        drop(gone);
        let listed = ask(&client, "ListTasks", json!({"tenant": "slow", "status": "TASK_STATE_WORKING"})).await;
        let task = listed["result"]["tasks"][0]["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{listed}"))
            .to_owned();
        // Its connection is gone; it can be followed from another one, and only a cancel ends it.
        let mut reader = super::wire::stream(&client, "SubscribeToTask", json!({"id": task})).await;
        let (_, _, first) = reader.event().await.unwrap();
        assert_eq!(first["result"]["task"]["status"]["state"], "TASK_STATE_WORKING", "{first}");
        let canceled =
            tokio::time::timeout(Duration::from_secs(1), ask(&client, "CancelTask", json!({"id": task}))).await;
        assert_eq!(canceled.expect("within a second")["result"]["status"]["state"], "TASK_STATE_CANCELED");
        let last = reader.events().await;
        assert_eq!(last.last().unwrap().2["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    }
    server.stop().await;
}

#[tokio::test]
async fn cancel_ends_what_an_agent_asked_of_another_within_a_second() {
    let (_home, server) = server().await;
    let client = server.client();
    let outer = begin(&client, "sends", "go").await;
    let inner = loop {
        let listed = ask(&client, "ListTasks", json!({"tenant": "waits", "status": "TASK_STATE_WORKING"})).await;
        if let Some(id) = listed["result"]["tasks"][0]["id"].as_str() {
            break id.to_owned();
        }
        tokio::task::yield_now().await;
    };
    let ends = async {
        ask(&client, "CancelTask", json!({"id": outer})).await;
        until(&client, &inner, "TASK_STATE_CANCELED").await;
    };
    tokio::time::timeout(Duration::from_secs(1), ends).await.expect("within a second");
    assert_eq!(state(&client, &outer).await, "TASK_STATE_CANCELED");
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_run_that_nobody_named() {
    let (_home, server) = server().await;
    let client = server.client();
    for parts in [
        json!([{"text": "do what you think is best"}]),
        json!([{"data": {"arguments": {"command": "id"}}}]),
        json!([{"data": {"tool": 7, "arguments": {}}}]),
        json!([{"data": ["tool", "shell_exec"]}]),
        json!([{"raw": "L3NoZWxsX2V4ZWM=", "mediaType": "application/octet-stream"}]),
    ] {
        let message = json!({"messageId": fresh(), "role": "ROLE_USER", "parts": parts});
        let sent = tell(&client, "worker", message).await["result"]["task"].clone();
        let state = sent["status"]["state"].as_str().unwrap();
        assert!(state == "TASK_STATE_INPUT_REQUIRED" || state == "TASK_STATE_FAILED", "{parts}: {sent}");
        assert!(sent["status"]["message"]["parts"][0]["text"].is_string(), "it says what it can do: {sent}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_a_message_brings_in_is_taken_as_data_only() {
    let home = agents(TestHome::new());
    let config = Config { limits: Limits { body_bytes: 200_000, ..limits() }, ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/secret", listener.local_addr().unwrap());
    let part = async |part: Value| {
        let parts = json!([{"text": "/current_time"}, part]);
        let message = json!({"messageId": fresh(), "role": "ROLE_USER", "parts": parts});
        client
            .post("/a2a", &request(1, "SendMessage", json!({"tenant": "worker", "message": message})))
            .await
    };
    for kind in [
        "text/html",
        "TEXT/HTML; charset=utf-8",
        "image/svg+xml",
        "application/xhtml+xml",
        "application/javascript",
        "text/html\r\nx: y",
        "a/b/c",
    ] {
        assert_eq!(code(&part(json!({"raw": "aGk=", "mediaType": kind})).await), -32005, "{kind}");
    }
    for (given, kept) in [
        ("../../x", "x"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\y.txt", "y.txt"),
        ("..", "file"),
        ("a\u{202e}b\n.c", "ab.c"),
    ] {
        let sent = part(json!({"raw": "aGk=", "mediaType": "text/plain", "filename": given})).await.json();
        let task = sent["result"]["task"]["id"].clone();
        let seen = ask(&client, "GetTask", json!({"id": task})).await["result"]["history"][0]["parts"][1].clone();
        assert_eq!(seen["filename"], kept, "{given}: {seen}");
    }
    for (wrong, right) in [
        ("file:///etc/passwd", false),
        ("javascript:alert(1)", false),
        ("data:text/html,x", false),
        ("not a url", false),
        (url.as_str(), true),
        ("http://169.254.169.254/latest", true),
    ] {
        let sent = part(json!({"url": wrong})).await.json();
        assert_eq!(sent["result"].is_object(), right, "{wrong}: {sent}");
    }
    let nobody_came = tokio::time::timeout(Duration::from_millis(1), listener.accept()).await;
    assert!(nobody_came.is_err(), "a url is handed on, not fetched");
    let huge = part(json!({"raw": "A".repeat(400_000), "mediaType": "application/octet-stream"})).await;
    assert_eq!(huge.status, 413);
    let none = ask(
        &client,
        "SendMessage",
        json!({"message": said(&fresh(), "x"), "configuration": {"acceptedOutputModes": ["image/png"]}}),
    )
    .await;
    assert_eq!(none["error"]["code"], -32005, "{none}");
    server.stop().await;
}
