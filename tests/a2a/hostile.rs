//! Bodies and envelopes that are wrong in every way: each gets a precise refusal, nothing is done, and the server goes on.

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use super::calls::{Names, every};
use super::wire::{ask, begin, code, request, said, server, until};

/// How many tasks there are.
pub(super) async fn total(client: &Client) -> u64 {
    ask(client, "ListTasks", json!({})).await["result"]["totalSize"].as_u64().unwrap()
}

#[tokio::test]
async fn bodies_that_parsers_disagree_about_are_refused_at_every_door() {
    let (_home, server) = server().await;
    let client = server.client();
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let doors = [
        "/a2a",
        "/a2a/",
        "/",
        "/a2a/agents/worker",
        "/a2a/rest/message:send",
        "/a2a/rest/v1/message:send",
        "/a2a/tasks/send",
    ];
    let wrong = [
        "nonsense".to_owned(),
        "{".to_owned(),
        "{\"a\": 1} {}".to_owned(),
        "{\"a\": 1,}".to_owned(),
        "{'a': 1}".to_owned(),
        "{\"a\": NaN}".to_owned(),
        "{\"a\": \"\\ud800\"}".to_owned(),
        "{\"a\": \"\u{1}\"}".to_owned(),
        "\u{feff}{}".to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"SendMessage","params":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"a","messageId":"b"}}}"#
            .to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}}"#, deep(127)),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}}"#, deep(100_000)),
    ];
    for door in doors {
        for body in &wrong {
            let answer = client.send("POST", door, Some(body)).await;
            let is_rest = door.contains("rest") || door.contains("tasks");
            let (status, said) = (if is_rest { 400 } else { 200 }, &body[..body.len().min(60)]);
            assert_eq!(answer.status, status, "{door} {said}: {answer:?}");
            let error = answer.json()["error"].clone();
            assert!(error["code"] == -32700 || error["code"] == 400, "{door} {said}: {error}");
            assert!(
                error["message"].as_str().is_some_and(|why| why.len() > 10 && why.len() < 300),
                "{door} {said}: {error}"
            );
        }
    }
    let within = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"x":{}}}}}"#, deep(125));
    assert_eq!(code(&client.send("POST", "/a2a", Some(&within)).await), -32602, "as deep as one may be");
    assert_eq!(total(&client).await, 0);
    server.stop().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_an_id_comes_back_exactly() {
    let (_home, server) = server().await;
    let client = server.client();
    let send = request(1, "SendMessage", json!({"message": said("m", "hello")}));
    let mut notification = send.clone();
    notification.as_object_mut().unwrap().remove("id");
    let odd = [
        json!([]),
        json!([send]),
        json!([send, send]),
        notification,
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "result": {}}),
        json!({"jsonrpc": "1.0", "id": 1, "method": "SendMessage", "params": {}}),
        json!({"id": 1, "method": "SendMessage", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
        json!({"jsonrpc": "2.0", "id": {}, "method": "SendMessage"}),
        json!({"jsonrpc": "2.0", "id": [1], "method": "SendMessage"}),
        json!({"jsonrpc": "2.0", "id": true, "method": "SendMessage"}),
        json!({"jsonrpc": "2.0", "id": 1, "Method": "SendMessage"}),
        json!("SendMessage"),
        json!(null),
        json!({}),
    ];
    for body in odd {
        let answer = client.post("/a2a", &body).await;
        assert_eq!((answer.status, code(&answer)), (200, -32600), "{body}: {answer:?}");
        assert_eq!(answer.json()["jsonrpc"], "2.0");
    }
    for method in
        ["sendMessage", "SENDMESSAGE", "SendMessage ", "message/Send", "tasks/list", "rpc.discover", "", "../GetTask"]
    {
        assert_eq!(code(&client.post("/a2a", &request(1, method, json!({}))).await), -32601, "{method:?}");
    }
    let long = client.post("/a2a", &request(1, &"m".repeat(100_000), json!({}))).await;
    assert!(code(&long) == -32601 && long.body.len() < 1_000, "a long name is not said back whole");
    for params in [json!("x"), json!(1), json!(true)] {
        assert_eq!(code(&client.post("/a2a", &request(1, "GetTask", params)).await), -32602);
    }
    for id in [json!(i64::MIN), json!(0), json!(""), json!("ü\"\\\n"), json!("x".repeat(100_000)), Value::Null] {
        let answer = client.post("/a2a", &request(id.clone(), "GetTask", json!({"id": "none"}))).await.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32001)));
    }
    assert_eq!(total(&client).await, 0);
    server.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_say_it_is_json_is_415_and_nothing_is_done() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    until(&client, &task, "TASK_STATE_WORKING").await;
    let names = names(&task, "waits");
    let before = total(&client).await;
    let types = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/json",
        "application/xml",
        "json",
        "",
    ];
    for call in every(&names).into_iter().filter(|call| call.verb == "POST") {
        for kind in types {
            let body = call.body.clone().unwrap_or(json!({})).to_string();
            let answer = call.send_body(&client.clone().with("content-type", kind), Some(&body)).await;
            assert_eq!(answer.status, 415, "{:?} {} {} {kind:?}: {answer:?}", call.dialect, call.method, call.path);
        }
        let packed = client.clone().with("content-encoding", "gzip");
        assert_eq!(call.send_body(&packed, Some("{}")).await.status, 415, "{}", call.path);
    }
    assert_eq!(total(&client).await, before);
    assert_eq!(ask(&client, "GetTask", json!({"id": task})).await["result"]["status"]["state"], "TASK_STATE_WORKING");
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/a2a+json"] {
        let answer = client
            .clone()
            .with("content-type", kind)
            .post("/a2a", &request(1, "GetTask", json!({"id": task})))
            .await;
        assert_eq!(answer.status, 200, "{kind}");
    }
    server.stop().await;
}

/// Names of one's own, of which only the task is there.
pub(super) fn names(task: &str, agent: &str) -> Names {
    let some = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000".to_owned();
    Names {
        agent: agent.to_owned(),
        task: task.to_owned(),
        push: "none".to_owned(),
        context: some.clone(),
        page: String::new(),
        url: "https://[::1]/".to_owned(),
    }
}
