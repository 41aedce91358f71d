//! OpenFang's own dialect: the examples in its documentation, and every spelling its clients use.

use openfang_types::task::{Part, PartBody, Role, TaskState};
use serde_json::{Value, from_value, json};

use super::super::Dialect;
use super::super::samples::*;
use super::*;
use crate::operation::{HistoryLength, ReplyMode, TaskReference};

const OPENFANG: Dialect = Dialect::OpenFang;

/// The example in the documentation.
fn printed() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tasks/send",
        "params": {
            "message": {
                "role": "user",
                "parts": [{ "type": "text", "text": "Review this code for security issues" }]
            },
            "sessionId": "optional-session-id"
        }
    })
}

#[test]
fn a_message_is_read_in_its_envelope_and_without() {
    for body in [printed(), printed()["params"].clone()] {
        let sending = sending(OPENFANG, Method::Send, &body);

        assert_eq!(sending.message.joined_text(), "Review this code for security issues");
        assert_eq!(sending.message.context_id.as_ref().unwrap().as_str(), "optional-session-id");
        assert_eq!((sending.task, sending.answer), (None, ReplyMode::Settled));
    }
}

#[test]
fn the_id_of_the_envelope_is_not_the_id_of_the_task() {
    let mut body = printed();
    body["params"]["id"] = json!("theirs");

    let task = sending(OPENFANG, Method::Send, &body).task;

    assert_eq!(task, Some(TaskReference::ExistingOrNew("theirs".parse().unwrap())));
}

#[test]
fn an_envelope_of_another_method_is_refused() {
    let mut body = printed();
    body["method"] = json!("tasks/get");
    assert_eq!(refusal(OPENFANG, Method::Send, &body).0, "method");
    body["method"] = json!("tasks/send");
    body["params"]["message"]["parts"] = json!([]);
    assert_eq!(refusal(OPENFANG, Method::Send, &body).0, "message.parts");
}

#[test]
fn sessions_and_flat_parts_are_read_in_every_spelling() {
    let parts = json!([
        {"type": "file", "name": "f.txt", "mime_type": "text/plain", "data": "aGk="},
        {"type": "file", "name": "f.txt", "mimeType": "text/plain", "data": "aGk"},
        {"type": "file", "file": {"name": "f.txt", "mimeType": "text/plain", "bytes": "aGk="}},
        {"type": "data", "mime_type": "application/json", "data": {"tool": "t"}},
        {"type": "data", "mimeType": "application/json", "data": [1]},
        {"type": "data", "data": "a text"},
        {"type": "data", "data": null},
    ]);
    let body = json!({"session_id": "s", "message": {"role": "user", "parts": parts}});

    let message = sending(OPENFANG, Method::Send, &body).message;

    assert_eq!(message.context_id.unwrap().as_str(), "s");
    for part in &message.parts[..3] {
        assert_eq!(*part, Part::file(b"hi".to_vec(), Some("f.txt".into()), Some("text/plain".into())));
    }
    assert_eq!(message.parts[3].body, PartBody::Data(json!({"tool": "t"})));
    assert_eq!(message.parts[4].body, PartBody::Data(json!([1])));
    assert_eq!(message.parts[5].body, PartBody::Data(json!("a text")));
    assert_eq!(message.parts[6].body, PartBody::Data(json!(null)));
}

#[test]
fn a_task_is_written_as_the_documentation_prints_it() {
    let mut task = bare_task(TaskState::Completed);
    task.context_id = "optional-session-id".parse().unwrap();
    task.history = vec![message("m-1", Role::User, vec![Part::text("Review this code for security issues")])];
    task.status.message = Some(message("m-2", Role::Agent, vec![Part::text("I found 2 potential issues...")]));

    let shown = written(OPENFANG, &sent(task));

    let expected = json!({
        "id": TASK,
        "sessionId": "optional-session-id",
        "status": "completed",
        "messages": [
            { "role": "user", "parts": [{ "type": "text", "text": "Review this code for security issues" }] },
            { "role": "agent", "parts": [{ "type": "text", "text": "I found 2 potential issues..." }] }
        ],
        "artifacts": []
    });
    assert_eq!(shown, expected);
}

#[test]
fn the_texts_of_a_task_that_is_done_are_its_agents_turn() {
    let mut task = rich_task(TaskState::Completed);
    task.status.message = None;
    let texts = |shown: &Value| {
        let parts = shown["messages"].as_array().unwrap().last().unwrap()["parts"].clone();
        (shown["messages"].as_array().unwrap().last().unwrap()["role"].clone(), parts[0].clone())
    };

    let shown = written(OPENFANG, &got(task.clone()));
    assert_eq!(texts(&shown), (json!("agent"), json!({"type": "text", "text": "hello"})));
    task.status.state = TaskState::Working;
    let before = written(OPENFANG, &got(task));
    assert_eq!(before["messages"].as_array().unwrap().len() + 1, shown["messages"].as_array().unwrap().len());
}

#[test]
fn states_are_flat_words_and_artifacts_always_have_a_name() {
    let words: Vec<Value> = TaskState::ALL
        .iter()
        .map(|state| written(OPENFANG, &got(rich_task(*state)))["status"].clone())
        .collect();
    let expected =
        ["submitted", "working", "inputRequired", "inputRequired", "completed", "failed", "cancelled", "failed"];
    assert_eq!(words, expected);

    let artifacts = &written(OPENFANG, &got(rich_task(TaskState::Completed)))["artifacts"];
    assert_eq!((&artifacts[0]["name"], &artifacts[1]["name"]), (&json!("add_numbers-result"), &json!("a-2")));
    let parts = json!([
        {"type": "text", "text": "hello"},
        {"type": "file", "name": "a.bin", "mime_type": "application/octet-stream", "data": "AP8Q"},
        {"type": "data", "mime_type": "application/json",
            "data": {"name": "b.png", "mimeType": "image/png", "uri": "https://example.com/b.png"}},
        {"type": "data", "mime_type": "application/json", "data": {"tool": "add_numbers"}},
        {"type": "data", "mime_type": "application/json", "data": [1, 2]},
        {"type": "data", "mime_type": "application/json", "data": null},
    ]);
    assert_eq!(artifacts[0]["parts"], parts);
}

#[test]
fn a_task_is_asked_for_and_canceled_by_its_id() {
    let task = || "t".parse().unwrap();
    let asked = decoded(OPENFANG, Method::Get, &json!({"id": "t", "historyLength": "1"}))
        .unwrap()
        .operation;
    assert_eq!(asked, Operation::Get { task: task(), history: HistoryLength(Some(1)) });
    assert_eq!(
        decoded(OPENFANG, Method::Cancel, &json!({"id": "t"})).unwrap().operation,
        Operation::Cancel { task: task() }
    );
}

#[test]
fn tasks_of_others_are_read_whatever_their_spelling() {
    let read = |status: Value| {
        from_value::<A2aTask>(json!({"id": "t", "session_id": "s", "status": status, "history": [
            {"role": "agent", "parts": [{"kind": "text", "text": "hi"}], "messageId": "m"}],
            "artifacts": [{"name": null, "parts": [{"type": "data", "data": {"a": 1}}]}]}))
    };
    for status in
        [json!("InputRequired"), json!("inputRequired"), json!("input-required"), json!({"state": "input-required"})]
    {
        let task = read(status).unwrap();

        assert_eq!(task.status, A2aTaskStatus::InputRequired);
        assert_eq!(task.session_id.as_deref(), Some("s"));
        assert_eq!(task.messages[0].parts, [A2aPart::Text { text: "hi".into() }]);
        assert_eq!(task.artifacts[0].name, "");
    }
    for status in [json!("done"), json!(""), json!({}), json!(null), json!(3), json!({"state": "unknown"})] {
        assert!(read(status.clone()).is_err(), "{status}");
    }
    let bare: A2aTask =
        from_value(json!({"id": "t", "status": "working", "messages": null, "artifacts": null})).unwrap();
    assert_eq!((bare.messages.len(), bare.artifacts.len(), bare.session_id), (0, 0, None));
}
