//! 0.2 and 0.3 as their SDKs write and read them.

use openfang_types::task::{Part, PartBody, Role, TaskState};
use serde_json::json;

use super::super::samples::*;
use super::super::{Dialect, InDialect};
use crate::answer::{Answer, StreamEvent};
use crate::operation::{HistoryLength, Method, Operation, ReplyMode, TaskReference};

const V03: Dialect = Dialect::V03;

#[test]
fn a_message_of_the_python_sdk_is_read() {
    let params = json!({
        "configuration": {"acceptedOutputModes": [], "blocking": true},
        "message": {"kind": "message", "messageId": "m", "role": "user", "contextId": "c", "taskId": "t",
            "parts": [{"kind": "text", "text": "hi"}]},
    });

    let sending = sending(V03, Method::Send, &params);

    assert_eq!(sending.message.joined_text(), "hi");
    assert_eq!(sending.message.context_id.unwrap().as_str(), "c");
    assert_eq!(sending.task, Some(TaskReference::Existing("t".parse().unwrap())));
    assert_eq!(sending.answer, ReplyMode::Settled);
}

#[test]
fn a_client_waits_unless_it_says_otherwise() {
    let when = |method: Method, configuration: serde_json::Value| {
        let message = json!({"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]});
        sending(V03, method, &json!({"message": message, "configuration": configuration})).answer
    };
    assert_eq!(when(Method::Send, json!(null)), ReplyMode::Settled);
    assert_eq!(when(Method::Send, json!({})), ReplyMode::Settled);
    assert_eq!(when(Method::Send, json!({"blocking": null})), ReplyMode::Settled);
    assert_eq!(when(Method::Send, json!({"blocking": false})), ReplyMode::AtOnce);
    assert_eq!(when(Method::Stream, json!({"blocking": false})), ReplyMode::Streaming);
}

#[test]
fn parts_of_every_kind_are_read() {
    let parts = json!([
        {"kind": "text", "text": "a", "metadata": {"k": 1}},
        {"kind": "file", "file": {"name": "f", "mimeType": "x/y", "bytes": "AP8Q"}},
        {"kind": "file", "file": {"mime_type": "x/y", "uri": "https://e/"}},
        {"kind": "data", "data": {"tool": "t"}},
        {"kind": "data", "data": {"value": [1]}, "metadata": {"data_part_compat": true}},
        {"kind": "data", "data": {"value": [1]}},
        {"text": "without a kind"},
        {"type": "text", "text": "as 0.1 has it"},
    ]);
    let params = json!({"message": {"messageId": "m", "role": "user", "parts": parts}});

    let read = sending(V03, Method::Send, &params).message.parts;

    assert_eq!(json!(read[0].metadata), json!({"k": 1}));
    assert_eq!(read[1], Part::file(vec![0, 255, 16], Some("f".into()), Some("x/y".into())));
    assert_eq!(read[2].body, PartBody::Url("https://e/".into()));
    assert_eq!(read[3].as_data(), Some(&json!({"tool": "t"})));
    assert_eq!(read[4], Part::data(json!([1])));
    assert_eq!(read[5].as_data(), Some(&json!({"value": [1]})));
    assert_eq!((read[6].as_text(), read[7].as_text()), (Some("without a kind"), Some("as 0.1 has it")));
}

#[test]
fn a_task_says_its_kind_everywhere_and_what_states_it_was_in() {
    let mut held = held(rich_task(TaskState::AuthRequired));
    held.task.artifacts.clear();
    held.peer_name = Some("theirs".parse().unwrap());

    let task = written(V03, &Answer::Sent(Box::new(held), HistoryLength(Some(1))));

    let message = |id: &str, text: &str| {
        json!({"kind": "message", "messageId": id, "contextId": "c-1", "taskId": "theirs", "role": "agent",
            "parts": [{"kind": "text", "text": text}]})
    };
    let expected = json!({
        "kind": "task", "id": "theirs", "contextId": "c-1",
        "status": {"state": "auth-required", "timestamp": "2026-03-02T12:00:01.500Z", "message": message("m-3", "so it is")},
        "history": [message("m-2", "on it")],
        "metadata": {"statusHistory": [
            {"state": "submitted", "timestamp": "2026-03-02T12:00:00.000Z"},
            {"state": "auth-required", "timestamp": "2026-03-02T12:00:01.500Z"},
        ]},
    });
    assert_eq!(task, expected);
}

#[test]
fn parts_are_written_with_their_kind_and_data_is_always_an_object() {
    let task = written(V03, &got(rich_task(TaskState::Completed)));

    let parts = json!([
        {"kind": "text", "text": "hello", "metadata": {"part": {"deep": [1, null, "x"]}}},
        {"kind": "file", "file": {"name": "a.bin", "mimeType": "application/octet-stream", "bytes": "AP8Q"}},
        {"kind": "file", "file": {"name": "b.png", "mimeType": "image/png", "uri": "https://example.com/b.png"}},
        {"kind": "data", "data": {"tool": "add_numbers"}},
        {"kind": "data", "data": {"value": [1, 2]}, "metadata": {"data_part_compat": true}},
        {"kind": "data", "data": {"value": null}, "metadata": {"data_part_compat": true}},
    ]);
    assert_eq!(task["artifacts"][0]["parts"], parts);
    assert_eq!(task["artifacts"][0]["artifactId"], "a-1");
}

#[test]
fn the_last_status_of_a_stream_says_that_it_is_the_last() {
    for state in TaskState::ALL {
        let event = streamed(V03, &status_event(state));
        assert_eq!(event["kind"], "status-update");
        assert_eq!(event["final"], state.is_terminal() || state.is_interrupted(), "{state}");
    }
    let artifact = streamed(V03, &artifact_event(true, false));
    assert_eq!(artifact["kind"], "artifact-update");
    assert_eq!((&artifact["append"], &artifact["lastChunk"]), (&json!(true), &json!(false)));
}

#[test]
fn an_answer_without_a_task_is_a_bare_message() {
    let reply = message("m", Role::Agent, vec![Part::text("hi")]);
    let bare = json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]});

    assert_eq!(serde_json::to_value(InDialect(V03, &StreamEvent::Reply(&reply))).unwrap(), bare);
    assert_eq!(written(V03, &Answer::Replied(Box::new(reply))), bare);
}

#[test]
fn push_configurations_are_nested_and_deleting_one_answers_null() {
    let nested = json!({"taskId": TASK, "pushNotificationConfig": {"id": "p-1", "url": "https://example.com/hook",
        "token": "t0ken", "authentication": {"schemes": ["Bearer"], "credentials": "cr3d"}}});

    assert_eq!(written(V03, &Answer::Push(Box::new(push()))), nested);
    assert_eq!(written(V03, &Answer::Pushes(vec![push(), push()])), json!([nested, nested]));
    assert_eq!(written(V03, &Answer::Gone), json!(null));
    let read = decoded(V03, Method::SetPush, &nested).unwrap().operation;
    assert_eq!(read, Operation::SetPush { task: Some(TASK.parse().unwrap()), config: push().config });
}

#[test]
fn a_push_configuration_is_asked_for_with_or_without_its_name() {
    let asked = |params| decoded(V03, Method::GetPush, &params).unwrap().operation;
    let task = || "t".parse().unwrap();

    assert_eq!(asked(json!({"id": "t"})), Operation::GetPush { task: task(), id: None });
    let named = Operation::GetPush { task: task(), id: Some("p".into()) };
    assert_eq!(asked(json!({"id": "t", "pushNotificationConfigId": "p"})), named);
    assert_eq!(refusal(V03, Method::DeletePush, &json!({"id": "t"})).0, "pushNotificationConfigId");
}

#[test]
fn the_extended_card_needs_no_parameters() {
    assert_eq!(V03.decode(Method::ExtendedCard, None).unwrap().operation, Operation::ExtendedCard);
}
