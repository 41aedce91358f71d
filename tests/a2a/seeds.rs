//! Every A2A exchange that the integration guides print: what is answered contains their members, with their types. Where
//! it does not, [`DIFFERENCES`] says why, and nowhere else.

mod cards;

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{A2aConfig, Config};
use serde_json::{Value, json};

use super::wire::{config, request, until};

/// The exchange, the member or the behaviour, and the reason.
const DIFFERENCES: [(&str, &str, &str); 9] = [
    (
        "guide 001, interface A2aTask",
        ".session_id",
        "the exchanges of the same guide, and of all others, have sessionId; session_id is read, not written",
    ),
    (
        "guide 002, authenticated card",
        "its path",
        "the guide prints none; it is the extended card, where every version since 0.3 asks for it",
    ),
    (
        "guide 002, no data part",
        "the first tool is called",
        "a tool that nobody named is never run: an agent names a default tool, or the task asks for input",
    ),
    (
        "guide 002, cancel",
        "a finished task becomes canceled",
        "an end never changes: -32002, and over the guides' own routes 409",
    ),
    (
        "guide 002, task",
        "id is a number of milliseconds",
        "ids are UUIDs, so that nobody guesses one; it is a text in both",
    ),
    (
        "guide 004, card",
        "modes are \"text\"",
        "every version since wants media types, and one card serves all: text/plain",
    ),
    ("guide 004, card", "pushNotifications is false", "there are push notifications here"),
    (
        "guide 004, skill",
        "the description is \"Can use the X tool\"",
        "tools say what they do; those words are for tools without a description",
    ),
    ("guide 004, cancel", "status Cancelled", "flat states are written as the exchanges have them: cancelled"),
];

/// The members of a guide that an answer does not have, or has with another type.
fn missing(answer: &Value, guide: &Value, at: &str, into: &mut Vec<String>) {
    match (answer, guide) {
        (Value::Object(answer), Value::Object(guide)) => {
            for (name, member) in guide {
                match answer.get(name) {
                    Some(own) => missing(own, member, &format!("{at}.{name}"), into),
                    None => into.push(format!("{at}.{name}")),
                }
            }
        }
        (Value::Array(answer), Value::Array(guide)) => {
            for (number, member) in guide.iter().enumerate() {
                let fits = |own: &Value| {
                    let mut lacks = Vec::new();
                    missing(own, member, "", &mut lacks);
                    lacks.is_empty()
                };
                if !answer.iter().any(fits) {
                    into.push(format!("{at}[{number}]"));
                }
            }
        }
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Null, Value::Null) => {}
        _ => into.push(at.to_owned()),
    }
}

/// The answer has all that the guide prints, but for what the table says of this exchange.
#[track_caller]
fn assert_contains(exchange: &str, answer: &Value, guide: &Value) {
    let mut lacks = Vec::new();
    missing(answer, guide, "", &mut lacks);
    let known: Vec<&str> = DIFFERENCES
        .iter()
        .filter(|(of, what, _)| *of == exchange && what.starts_with('.'))
        .map(|(_, what, _)| *what)
        .collect();
    assert_eq!(lacks, known, "{exchange}: {answer}");
}

const REVIEWER: &str = "[[rules]]\nwhen = { text = \"wait\" }\nsteps = [{ wait_for_cancel = true }]\n\
    [[rules]]\nsteps = [{ chunk = \"I found 2 potential issues...\" }]\n";

/// A house with the agent of the guides.
async fn house() -> (TestHome, TestServer) {
    let home = TestHome::new()
        .with_script("code-reviewer", &["file_read"], REVIEWER)
        .with_direct("worker", &["*"]);
    let a2a = A2aConfig { public_skills: vec!["*".parse().unwrap()], ..config().a2a };
    let config = Config { a2a, default_agent: Some("code-reviewer".parse().unwrap()), ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

fn send(text: &str) -> Value {
    let message = json!({"role": "user", "parts": [{"type": "text", "text": text}]});
    request(1, "tasks/send", json!({"message": message, "sessionId": "optional-session-id"}))
}

#[tokio::test]
async fn a_task_is_sent_polled_and_canceled_as_the_guides_say() {
    let (_home, server) = house().await;
    let client = server.client();
    let sent = client.post("/a2a/tasks/send", &send("Review this code for security issues")).await;
    let task = sent.json();
    let guide = json!({
        "id": "550e8400-e29b-41d4-a716-446655440000",
        "sessionId": "optional-session-id",
        "status": "completed",
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "Review this code for security issues"}]},
            {"role": "agent", "parts": [{"type": "text", "text": "I found 2 potential issues..."}]}
        ],
        "artifacts": []
    });
    for exchange in ["guide 000, send", "guide 001, send", "guide 003, send", "guide 004, send"] {
        assert_contains(exchange, &task, &guide);
    }
    assert_eq!((&task["status"], &task["sessionId"]), (&guide["status"], &guide["sessionId"]));
    assert_eq!(task["messages"], guide["messages"], "both turns, word for word");
    assert_contains(
        "guide 001, interface A2aTask",
        &task,
        &json!({"id": "", "session_id": "", "status": "Completed", "messages": [], "artifacts": []}),
    );

    let id = task["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/a2a/tasks/{id}")).await.json(), task, "a poll says the same");
    let again = client.send("POST", &format!("/a2a/tasks/{id}/cancel"), None).await;
    assert_eq!(again.status, 409, "an end does not change: {again:?}");
    for (verb, path) in [
        ("GET", "/a2a/tasks/550e8400-e29b-41d4-a716-446655440000"),
        ("POST", "/a2a/tasks/550e8400-e29b-41d4-a716-446655440000/cancel"),
    ] {
        assert_eq!(client.send(verb, path, None).await.status, 404, "{verb} {path}");
    }

    let waiting = super::wire::begin(&client, "code-reviewer", "wait").await;
    until(&client, &waiting, "TASK_STATE_WORKING").await;
    assert_eq!(client.get(&format!("/a2a/tasks/{waiting}")).await.json()["status"], "working");
    let canceled = client.send("POST", &format!("/a2a/tasks/{waiting}/cancel"), None).await;
    assert_eq!((canceled.status, &canceled.json()["status"]), (200, &json!("cancelled")));
    server.stop().await;
}

#[tokio::test]
async fn files_data_and_states_are_read_in_every_spelling_of_the_guides() {
    let (_home, server) = house().await;
    let client = server.client();
    let parts = json!([
        {"type": "text", "text": "look"},
        {"type": "file", "name": "a.txt", "mime_type": "text/plain", "data": "aGk="},
        {"type": "data", "mime_type": "application/json", "data": {"any": ["thing", 1]}}
    ]);
    let body = request(1, "tasks/send", json!({"message": {"role": "user", "parts": parts}, "session_id": "s-1"}));
    let task = client.post("/a2a/tasks/send", &body).await.json();
    assert_eq!((&task["messages"][0]["parts"], &task["sessionId"]), (&parts, &json!("s-1")), "{task}");
    // The parameters alone, without their envelope, are as good.
    let bare = client
        .post("/a2a/tasks/send", &json!({"message": {"role": "user", "parts": parts}}))
        .await
        .json();
    assert_eq!(bare["status"], "completed", "{bare}");
    server.stop().await;
}

/// What the second system of the guides asks over JSON-RPC.
async fn rpc(client: &Client, method: &str, params: Value) -> Value {
    client.post("/a2a/agents/worker", &request(1, method, params)).await.json()
}

#[tokio::test]
async fn the_second_systems_tasks_over_json_rpc() {
    let (_home, server) = house().await;
    let client = server.client();
    let message = json!({"message": {"role": "user", "parts": [
        {"type": "text", "text": "Add 3 and 7"},
        {"type": "data", "data": {"tool": "add_numbers", "arguments": {"a": 3, "b": 7}}}
    ]}});
    let sent = rpc(&client, "tasks/send", message).await;
    let guide = json!({
        "id": "1709395200000",
        "status": {"state": "completed", "timestamp": "2026-03-02T12:00:00.000Z"},
        "history": [{"role": "user", "parts": [{"type": "text", "text": "Add 3 and 7"}]}],
        "artifacts": [{"name": "add_numbers-result", "parts": [{"type": "text", "text": "10"}]}]
    });
    assert_contains("guide 002, task", &sent["result"], &guide);
    assert_eq!(sent["result"]["status"]["state"], "completed");
    assert_eq!(sent["result"]["artifacts"][0]["name"], "add_numbers-result");
    assert_eq!(sent["result"]["artifacts"][0]["parts"][0], guide["artifacts"][0]["parts"][0]);
    assert_eq!(sent["result"]["history"][0]["parts"][0], guide["history"][0]["parts"][0]);

    let id = sent["result"]["id"].clone();
    let got = rpc(&client, "tasks/get", json!({"id": id})).await;
    assert_eq!(got["result"], sent["result"]);
    let wrong = json!({"message": {"role": "user", "parts": [
        {"type": "data", "data": {"tool": "add_numbers", "arguments": {"a": "three"}}}
    ]}});
    let failed = rpc(&client, "tasks/send", wrong).await["result"].clone();
    assert_eq!(
        (&failed["status"]["state"], &failed["artifacts"][0]["name"]),
        (&json!("failed"), &json!("add_numbers-error"))
    );
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(rpc(&client, method, json!({})).await["error"]["code"], -32602, "{method}");
        let unknown = rpc(&client, method, json!({"id": "1709395200000"})).await;
        assert_eq!(unknown["error"]["code"], -32001, "{method}: {unknown}");
    }
    assert_eq!(rpc(&client, "tasks/cancel", json!({"id": id})).await["error"]["code"], -32002);
    let text = json!({"message": {"role": "user", "parts": [{"type": "text", "text": "Human-readable request"}]}});
    let asked = rpc(&client, "tasks/send", text).await["result"].clone();
    assert_eq!(asked["status"]["state"], "input-required", "nobody named a tool: {asked}");
    let canceled = rpc(&client, "tasks/cancel", json!({"id": asked["id"]})).await;
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "{canceled}");
    // They are in the table that the guide names.
    let tasks = server
        .kernel
        .tasks(&callers::local(&server.kernel), openfang_kernel::TaskFilter::default())
        .await;
    assert_eq!(tasks.unwrap().total, 3);
    server.stop().await;
}
