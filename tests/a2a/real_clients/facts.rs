//! What each operation of the clients' job must have come to. Where an SDK itself is at fault, the fault stands here.

use serde_json::{Value, json};

use crate::support::peers::{A2aClient, Binding};

/// What a client was shown as a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// What anybody is shown.
    Public,
    /// What the holder of its key may use: it sends the key with every request.
    WithKey,
}

impl Seen {
    /// What a client that has a key is shown. The Rust one reads cards without it.
    pub(super) const fn with_key(client: A2aClient) -> Self {
        match client {
            A2aClient::Rust => Self::Public,
            A2aClient::Python13
            | A2aClient::Python03
            | A2aClient::Python02
            | A2aClient::Js13
            | A2aClient::Js03
            | A2aClient::Js02 => Self::WithKey,
        }
    }
}

/// Looks at what one operation printed. An operation that nobody looks at is refused.
#[track_caller]
pub(super) fn assert_good(operation: &str, facts: &Value, client: A2aClient, binding: Binding, seen: Seen) {
    let task = &facts["task"];
    match operation {
        "client" => {}
        "card" => {
            assert_eq!(facts["name"], "tester", "{facts}");
            assert_eq!((&facts["streaming"], &facts["push"]), (&json!(true), &json!(true)), "{facts}");
            let skills = match seen {
                Seen::Public => json!(["add_numbers"]),
                Seen::WithKey => json!(["add_numbers", "file_list"]),
            };
            assert_eq!(facts["skills"], skills, "{facts}");
        }
        "extended_card" => assert_eq!(facts["skills"], json!(["add_numbers", "file_list"]), "{facts}"),
        "send" | "card_auth" | "auth_retry" => assert_greeted(task),
        "reply" => assert_eq!(facts["message"], json!({"parts": [{"text": "just so"}], "role": "agent"}), "{facts}"),
        "data" => {
            assert_eq!(task["state"], "completed", "{facts}");
            let artifact = &task["artifacts"][0];
            assert_eq!(artifact["name"], "add_numbers-result", "{facts}");
            // Protobuf has one kind of number only, so some clients ask for 3.0 and 7.0.
            assert!(["10", "10.0"].iter().any(|sum| artifact["parts"][0]["text"] == *sum), "{facts}");
            assert_eq!(artifact["parts"][1], json!({"data": {"result": 10}}), "{facts}");
        }
        "file" => {
            let parts = json!([{"text": "take this"}, {"file": file(client, binding)}]);
            assert_eq!(task["artifacts"], json!([{"name": "echo", "parts": parts}]), "{facts}");
        }
        "artifacts" => assert_artifacts(task, client, binding),
        "states" => {
            for (word, state, said) in [
                ("fail", "failed", "it broke"),
                ("reject", "rejected", "not this"),
                ("auth", "auth-required", "log in first"),
            ] {
                assert_eq!((&facts[word]["state"], &facts[word]["said"]), (&json!(state), &json!(said)), "{facts}");
            }
        }
        "stream" => assert_streamed(facts, client, binding),
        "stream_reply" => {
            assert_eq!((&facts["events"], &facts["text"]), (&json!(["message"]), &json!("just so")), "{facts}")
        }
        other => assert_managed(other, facts),
    }
}

/// The operations on tasks that are there already, and those that must be refused.
#[track_caller]
fn assert_managed(operation: &str, facts: &Value) {
    let task = &facts["task"];
    match operation {
        "get" => {
            assert_greeted(task);
            let seen = (&facts["same"], &task["history"], &facts["bareHistory"]);
            assert_eq!(seen, (&json!(true), &json!(1), &json!(0)), "{facts}");
        }
        "list" => {
            let page = json!([facts["count"], facts["pageCount"], facts["pageSize"]]);
            assert_eq!(page, json!([1, 1, 1]), "{facts}");
            assert!(["found", "more", "moves"].iter().all(|fact| facts[*fact] == true), "{facts}");
            assert!(facts["total"].as_u64() > Some(1), "{facts}");
        }
        "cancel" => {
            assert!(["submitted", "working"].iter().any(|state| facts["before"] == *state), "{facts}");
            assert_eq!((&task["state"], &facts["after"]), (&json!("canceled"), &json!("canceled")), "{facts}");
        }
        "resubscribe" => {
            let events = events(facts);
            assert!(events.first().is_some_and(|first| first.starts_with("task:")), "{facts}");
            assert_eq!(events.last(), Some(&"status:canceled"), "{facts}");
        }
        "not_cancelable" => assert_refused(facts, &["TaskNotCancelable", "-32002", "400", "409"]),
        "not_found" => assert_refused(facts, &["TaskNotFound", "-32001", "404"]),
        // The Rust client wants JSON-RPC in every answer, and says only that this was none.
        "no_key" => assert_refused(facts, &["401", "a credential is required", "unauthorized"]),
        "push_set" | "push_get" => assert_config(&facts["config"]),
        "push_list" => {
            assert_eq!(facts["configs"].as_array().map(Vec::len), Some(1), "{facts}");
            assert_config(&facts["configs"][0]);
        }
        "push_delete" => assert_eq!(facts["left"], 0, "{facts}"),
        "multi_turn" => {
            let asked = &facts["asked"];
            assert_eq!((&asked["state"], &asked["said"]), (&json!("input-required"), &json!("How many?")), "{facts}");
            assert_eq!(facts["answered"]["state"], "completed", "{facts}");
            assert_eq!(facts["answered"]["artifacts"][0]["parts"], json!([{"text": "thank you"}]), "{facts}");
            assert_eq!((&facts["sameTask"], &facts["sameContext"]), (&json!(true), &json!(true)), "{facts}");
        }
        "context" => {
            assert_eq!((&facts["sameTask"], &facts["sameContext"]), (&json!(false), &json!(true)), "{facts}");
        }
        "verify_card" => {
            assert_eq!((&facts["card"], &facts["superset"]), (&json!(true), &json!(true)), "{facts}");
            assert!(facts["tampered"].is_string(), "{facts}");
        }
        other => panic!("nobody looks at {other}: {facts}"),
    }
}

#[track_caller]
fn assert_greeted(task: &Value) {
    assert_eq!((&task["state"], &task["said"]), (&json!("completed"), &json!("done")), "{task}");
    assert_eq!(task["artifacts"], json!([{"name": "greeting", "parts": [{"text": "Hello!"}]}]), "{task}");
}

/// The file that goes both ways. Over HTTP the JavaScript SDK 0.3 has no place for its name.
fn file(client: A2aClient, binding: Binding) -> Value {
    let name = if (client, binding) == (A2aClient::Js03, Binding::HttpJson) { None } else { Some("three.bin") };
    json!({"name": name, "mediaType": "application/x-three", "bytes": "AQID"})
}

#[track_caller]
fn assert_artifacts(task: &Value, client: A2aClient, binding: Binding) {
    let mut file = file(client, binding);
    // Over HTTP the Python SDK 0.3 takes the bytes for text: right only for what it sent itself.
    if (client, binding) == (A2aClient::Python03, Binding::HttpJson) {
        file["bytes"] = json!("\u{1}\u{2}\u{3}");
    }
    let name = if file["name"].is_null() { None } else { Some("a.txt") };
    let url = json!({"name": name, "mediaType": "text/plain", "url": "https://example.com/a.txt"});
    let expected = json!([
        {"name": "text", "parts": [{"text": "some text"}]},
        {"name": "data", "parts": [{"data": {"deep": [1, true]}}]},
        {"name": "file", "parts": [{"file": file}]},
        {"name": "url", "parts": [{"file": url}]},
    ]);
    assert_eq!(task["artifacts"], expected, "{task}");
}

#[track_caller]
fn assert_streamed(facts: &Value, client: A2aClient, binding: Binding) {
    let events = events(facts);
    assert!(events.first().is_some_and(|first| first.starts_with("task:")), "{facts}");
    assert_eq!(events.last(), Some(&"status:completed"), "{facts}");
    let artifacts: Vec<&str> = events.into_iter().filter(|event| event.starts_with("artifact")).collect();
    // Over HTTP the JavaScript SDK 0.3 forgets whether an update appends.
    let second = if (client, binding) == (A2aClient::Js03, Binding::HttpJson) { "artifact" } else { "artifact+" };
    assert_eq!(artifacts, ["artifact", second], "{facts}");
    assert_eq!(facts["text"], "one two", "{facts}");
    // 1.0 has no such member; before it, the last event says that it is the last.
    assert_eq!(facts["final"], if client.is_modern() { Value::Null } else { json!(true) }, "{facts}");
}

fn events(facts: &Value) -> Vec<&str> {
    facts["events"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[track_caller]
fn assert_config(config: &Value) {
    assert_eq!((&config["id"], &config["url"]), (&json!("hook-1"), &json!("https://example.com/hook")), "{config}");
    assert!(config["taskId"].is_string(), "{config}");
}

/// An SDK says in its own way what it was refused: by the kind of its error, the code, or the status.
#[track_caller]
fn assert_refused(facts: &Value, any_of: &[&str]) {
    let said = facts["refused"].to_string();
    assert!(any_of.iter().any(|one| said.contains(one)), "{facts}");
}
