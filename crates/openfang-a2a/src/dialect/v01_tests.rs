//! 0.1: its schema, and the exchanges in its documentation.

use openfang_types::task::{Part, PartBody, Role, TaskState};
use serde_json::json;

use super::super::Dialect;
use super::super::samples::*;
use crate::answer::Answer;
use crate::operation::{HistoryLength, Method, Operation, ReplyMode, TaskReference};

const V01: Dialect = Dialect::V01;

#[test]
fn a_tool_call_as_documentation_prints_it_is_read() {
    let params = json!({"message": {"role": "user", "parts": [
        {"type": "text", "text": "Human-readable request"},
        {"type": "data", "data": {"tool": "add_numbers", "arguments": {"a": 3, "b": 7}}},
    ]}});

    let sending = sending(V01, Method::Send, &params);

    assert_eq!(sending.message.joined_text(), "Human-readable request");
    let call = json!({"tool": "add_numbers", "arguments": {"a": 3, "b": 7}});
    assert_eq!(sending.message.parts[1].as_data(), Some(&call));
    assert_eq!((sending.task, sending.answer), (None, ReplyMode::Settled));
    assert!(!sending.message.message_id.as_str().is_empty());
}

#[test]
fn the_caller_names_its_task_and_its_session() {
    let params = json!({
        "id": "theirs", "sessionId": "s", "historyLength": 2, "acceptedOutputModes": ["text"], "metadata": {"a": 1, "b": 2},
        "pushNotification": {"url": "https://e/", "token": "t", "authentication": {"schemes": ["", "Bearer", "Basic"]}},
        "message": {"role": "user", "metadata": {"a": 0}, "parts": [{"type": "text", "text": "hi"}]},
    });

    let sending = sending(V01, Method::Stream, &params);

    assert_eq!(sending.task, Some(TaskReference::ExistingOrNew("theirs".parse().unwrap())));
    assert_eq!(sending.message.context_id.unwrap().as_str(), "s");
    assert_eq!(json!(sending.message.metadata), json!({"a": 0, "b": 2}));
    assert_eq!((sending.history, sending.answer), (HistoryLength(Some(2)), ReplyMode::Streaming));
    assert_eq!(sending.push.unwrap().authentication.unwrap().scheme, "Bearer");
}

#[test]
fn numbers_are_names_too() {
    let operation = decoded(V01, Method::Get, &json!({"id": 1_709_395_200_000_u64})).unwrap().operation;

    let task = "1709395200000".parse().unwrap();
    assert_eq!(operation, Operation::Get { task, history: HistoryLength(None) });
}

#[test]
fn a_missing_id_is_refused_by_name() {
    for method in [Method::Get, Method::Cancel, Method::Subscribe, Method::SetPush, Method::GetPush] {
        let error = decoded(V01, method, &json!({})).unwrap_err();
        assert_eq!(V01.error(&error).code, -32_602);
        assert_eq!(refusal(V01, method, &json!({})).0, "id");
    }
    assert_eq!(V01.error(&crate::error::A2aError::TaskNotFound).code, -32_001);
}

#[test]
fn a_task_is_written_as_documentation_prints_it() {
    let mut task = bare_task(TaskState::Completed);
    task.history = vec![message("m", Role::User, vec![Part::text("Add 3 and 7")])];
    task.artifacts = rich_task(TaskState::Completed).artifacts;
    task.artifacts[0].parts = vec![Part::text("10")];
    let mut held = held(task);
    held.peer_name = Some("1709395200000".parse().unwrap());

    let shown = written(V01, &Answer::Task(Box::new(held), HistoryLength(None)));

    assert_eq!(shown["id"], "1709395200000");
    assert_eq!(shown["sessionId"], "c-1");
    assert_eq!(shown["status"], json!({"state": "completed", "timestamp": "2026-03-02T12:00:00.000Z"}));
    let asked = json!([{"role": "user", "parts": [{"type": "text", "text": "Add 3 and 7"}]}]);
    assert_eq!(shown["history"], asked);
    assert_eq!(shown["artifacts"][0]["name"], "add_numbers-result");
    assert_eq!(shown["artifacts"][0]["parts"], json!([{"type": "text", "text": "10"}]));
    assert_eq!((&shown["artifacts"][0]["index"], &shown["artifacts"][1]["index"]), (&json!(0), &json!(1)));
}

#[test]
fn states_that_0_1_has_no_word_for_become_their_nearest() {
    let word = |state| written(V01, &got(rich_task(state)));

    assert_eq!(word(TaskState::Rejected)["status"]["state"], "failed");
    assert_eq!(word(TaskState::AuthRequired)["status"]["state"], "input-required");
    let past = &word(TaskState::Rejected)["metadata"]["statusHistory"];
    assert_eq!((&past[0]["state"], &past[1]["state"]), (&json!("submitted"), &json!("failed")));
}

#[test]
fn a_stream_shows_states_and_chunks_of_artifacts() {
    let status = streamed(V01, &status_event(TaskState::InputRequired));
    let (first, second) = (streamed(V01, &artifact_event(false, false)), streamed(V01, &artifact_event(true, true)));

    assert_eq!((&status["id"], &status["final"]), (&json!(TASK), &json!(true)));
    assert_eq!(status["status"]["state"], "input-required");
    assert_eq!((&first["artifact"]["append"], &first["artifact"]["lastChunk"]), (&json!(false), &json!(false)));
    assert_eq!((&second["artifact"]["append"], &second["artifact"]["lastChunk"]), (&json!(true), &json!(true)));
    assert_eq!(first["artifact"]["index"], second["artifact"]["index"]);
    assert_eq!(first.as_object().unwrap().len(), 2);
}

#[test]
fn the_beginning_of_a_stream_is_a_status_that_holds_the_whole_task() {
    let item = openfang_types::event::StreamItem::Snapshot(Box::new(rich_task(TaskState::Working)), 3);

    let first = streamed(V01, &item);

    assert_eq!((&first["final"], &first["status"]["state"]), (&json!(false), &json!("working")));
    assert_eq!(first["artifacts"].as_array().unwrap().len(), 2);
}

#[test]
fn an_answer_without_a_task_is_a_completed_task() {
    let reply = message("m", Role::Agent, vec![Part::text("hi")]);

    let task = written(V01, &Answer::Replied(Box::new(reply)));

    assert_eq!((&task["id"], &task["status"]["state"]), (&json!("m"), &json!("completed")));
    assert_eq!(task["status"]["message"]["parts"], json!([{"type": "text", "text": "hi"}]));
}

#[test]
fn files_travel_inside_their_part() {
    let file = json!({"type": "file", "file": {"name": "f", "mimeType": "x/y", "bytes": "AA"}});
    let params = json!({"message": {"role": "user", "parts": [file, {"type": "file", "file": {"uri": "https://e/"}}]}});

    let parts = sending(V01, Method::Send, &params).message.parts;

    assert_eq!(parts[0], Part::file(vec![0], Some("f".into()), Some("x/y".into())));
    assert_eq!(parts[1].body, PartBody::Url("https://e/".into()));
}

#[test]
fn a_task_has_one_push_configuration() {
    let shown = json!({"id": TASK, "pushNotificationConfig": {"url": "https://example.com/hook", "token": "t0ken",
        "authentication": {"schemes": ["Bearer"], "credentials": "cr3d"}}});

    assert_eq!(written(V01, &Answer::Push(Box::new(push()))), shown);
    let Operation::SetPush { task, config } = decoded(V01, Method::SetPush, &shown).unwrap().operation else {
        panic!()
    };
    assert_eq!((task.unwrap().as_str(), config.url.as_str()), (TASK, "https://example.com/hook"));
    let asked = decoded(V01, Method::GetPush, &json!({"id": "t"})).unwrap().operation;
    assert_eq!(asked, Operation::GetPush { task: "t".parse().unwrap(), id: None });
}
