//! 1.0 as clients write and read it.

use openfang_types::task::{Artifact, Part, PartBody, Role, TaskState};
use serde_json::json;

use super::super::samples::*;
use super::super::{Dialect, InDialect};
use crate::answer::{Answer, ListTasksResponse, StreamEvent};
use crate::error::A2aError;
use crate::operation::{HistoryLength, Method, Operation, ReplyMode, Request, TaskReference};

const V10: Dialect = Dialect::V10;

#[test]
fn a_message_of_the_python_sdk_is_read() {
    let params = json!({
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        "configuration": {},
    });

    let sending = sending(V10, Method::Send, &params);

    assert_eq!(sending.message.message_id.as_str(), "m");
    assert_eq!(sending.message.role, Role::User);
    assert_eq!(sending.message.joined_text(), "hi");
    assert_eq!((sending.answer, sending.task, sending.push), (ReplyMode::Settled, None, None));
}

#[test]
fn everything_a_message_can_carry_is_read_in_both_spellings() {
    let camel = json!({
        "tenant": "starter",
        "message": {
            "messageId": "m", "contextId": "c", "taskId": "t", "role": 1, "extensions": ["urn:x"],
            "referenceTaskIds": ["r"], "metadata": {"a": 1}, "unknown": {},
            "parts": [{"raw": "-_8", "filename": "f", "mediaType": "x/y", "metadata": {"p": 1}}],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": 2, "returnImmediately": true,
            "taskPushNotificationConfig": {"id": "p", "url": "https://e/", "token": "t",
                "authentication": {"scheme": "Bearer", "credentials": "c"}},
        },
        "metadata": {"a": 2, "b": 3},
    });
    let snake = json!({
        "tenant": "starter",
        "message": {
            "message_id": "m", "context_id": "c", "task_id": "t", "role": "ROLE_USER", "extensions": ["urn:x"],
            "reference_task_ids": ["r"], "metadata": {"a": 1},
            "parts": [{"raw": "+/8=", "filename": "f", "media_type": "x/y", "metadata": {"p": 1}}],
        },
        "configuration": {
            "accepted_output_modes": ["text/plain"], "history_length": "2", "return_immediately": true,
            "task_push_notification_config": {"id": "p", "url": "https://e/", "token": "t",
                "authentication": {"scheme": "Bearer", "credentials": "c"}},
        },
        "metadata": {"a": 2, "b": 3},
    });

    let request = decoded(V10, Method::Send, &camel).unwrap();
    let sending = sending(V10, Method::Send, &camel);

    assert_eq!(request, decoded(V10, Method::Send, &snake).unwrap());
    assert_eq!(request.tenant.as_deref(), Some("starter"));
    assert_eq!(sending.task, Some(TaskReference::Existing("t".parse().unwrap())));
    assert_eq!(sending.message.parts[0].body, PartBody::Raw(vec![251, 255]));
    assert_eq!(json!(sending.message.metadata), json!({"a": 1, "b": 3}));
    assert_eq!((sending.history, sending.answer), (HistoryLength(Some(2)), ReplyMode::AtOnce));
    let push = sending.push.unwrap();
    assert_eq!(push.token.unwrap().expose(), "t");
    assert_eq!(push.authentication.unwrap().credentials.unwrap().expose(), "c");
}

#[test]
fn null_is_absent_except_where_it_is_the_value() {
    let part = json!({"text": "x", "raw": null, "url": null, "data": null, "metadata": null, "mediaType": null});
    let params = json!({
        "message": {"messageId": "m", "role": 1, "contextId": null, "taskId": "", "parts": [part, {"data": null}]},
        "configuration": null, "metadata": null, "tenant": "",
    });
    let mut roleless = params.clone();
    roleless["message"]["role"] = json!(null);

    let read = sending(V10, Method::Stream, &params);

    assert_eq!(read.message.parts[0].as_text(), Some("x"));
    assert_eq!(read.message.parts[1].as_data(), Some(&json!(null)));
    assert_eq!((read.message.context_id, read.task, read.answer), (None, None, ReplyMode::Streaming));
    assert!(
        decoded(V10, Method::Stream, &roleless)
            .unwrap_err()
            .to_string()
            .contains("`role` is missing")
    );
}

#[test]
fn a_list_is_asked_for_with_any_spelling_of_its_state() {
    for word in [json!("TASK_STATE_INPUT_REQUIRED"), json!("input-required"), json!("inputRequired"), json!(6)] {
        let params = json!({"status": word, "pageSize": "10", "includeArtifacts": "true",
            "statusTimestampAfter": "2026-03-02T12:00:00Z", "pageToken": "", "historyLength": 0.0});

        let Operation::List(listing) = decoded(V10, Method::List, &params).unwrap().operation else { panic!() };

        assert_eq!(listing.state, Some(TaskState::InputRequired));
        assert_eq!((listing.page_size, listing.page_token, listing.include_artifacts), (Some(10), None, true));
        assert_eq!(listing.changed_since, Some(at("2026-03-02T12:00:00Z")));
        assert_eq!(listing.history, HistoryLength(Some(0)));
    }
}

#[test]
fn the_extended_card_needs_no_parameters() {
    let plain = Request { tenant: None, operation: Operation::ExtendedCard };
    assert_eq!(V10.decode(Method::ExtendedCard, None).unwrap(), plain);
    assert_eq!(decoded(V10, Method::ExtendedCard, &json!(null)).unwrap(), plain);
    assert_eq!(decoded(V10, Method::ExtendedCard, &json!({"tenant": "a"})).unwrap().tenant.as_deref(), Some("a"));
}

#[test]
fn a_task_is_written_as_the_protocol_buffers_have_it() {
    let part = json!([
        {"text": "hello", "metadata": {"part": {"deep": [1, null, "x"]}}},
        {"raw": "AP8Q", "filename": "a.bin", "mediaType": "application/octet-stream"},
        {"url": "https://example.com/b.png", "filename": "b.png", "mediaType": "image/png"},
        {"data": {"tool": "add_numbers"}}, {"data": [1, 2]}, {"data": null},
    ]);

    let task = written(V10, &sent(rich_task(TaskState::InputRequired)));

    let of = |id: &str, role: &str, text: &str| json!({"messageId": id, "contextId": "c-1", "taskId": TASK, "role": role, "parts": [{"text": text}]});
    let expected = json!({"task": {
        "id": TASK, "contextId": "c-1",
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-03-02T12:00:01.500Z",
            "message": of("m-3", "ROLE_AGENT", "so it is")},
        "artifacts": [
            {"artifactId": "a-1", "name": "add_numbers-result", "description": "what came of it", "parts": part,
                "metadata": {"artifact": {"deep": [1, null, "x"]}}, "extensions": ["urn:y"]},
            {"artifactId": "a-2", "parts": [{"text": "10"}]},
        ],
        "history": [
            {"messageId": "m-1", "contextId": "c-1", "taskId": TASK, "role": "ROLE_USER", "parts": part,
                "metadata": {"message": {"deep": [1, null, "x"]}}, "extensions": ["urn:x"], "referenceTaskIds": ["other"]},
            of("m-2", "ROLE_AGENT", "on it"),
        ],
    }});
    assert_eq!(task, expected);
}

/// What a server of `a2a-sdk` 1.3 answers.
#[test]
fn a_plain_task_has_the_members_that_the_python_sdk_writes_and_no_others() {
    let mut task = bare_task(TaskState::Completed);
    task.history = vec![message("m", Role::User, vec![Part::text("hi")])];
    task.artifacts = vec![Artifact::of_parts("a".parse().unwrap(), None, vec![Part::text("10")])];

    let answer = written(V10, &sent(task));

    let expected = json!({"task": {
        "id": TASK,
        "contextId": "c-1",
        "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-03-02T12:00:00.000Z"},
        "artifacts": [{"artifactId": "a", "parts": [{"text": "10"}]}],
        "history": [{"messageId": "m", "contextId": "c-1", "taskId": TASK, "role": "ROLE_USER", "parts": [{"text": "hi"}]}],
    }});
    assert_eq!(answer, expected);
}

#[test]
fn a_task_is_called_what_its_maker_calls_it_and_shows_as_much_as_asked() {
    let mut held = held(rich_task(TaskState::Completed));
    held.peer_name = Some("theirs".parse().unwrap());

    let shown = written(V10, &Answer::Task(Box::new(held.clone()), HistoryLength(Some(1))));
    let page = ListTasksResponse {
        tasks: vec![held],
        next_page_token: String::new(),
        page_size: 50,
        total: 1,
        history: HistoryLength(Some(0)),
        include_artifacts: false,
    };
    let listed = written(V10, &Answer::Tasks(page));

    assert_eq!((&shown["id"], &shown["status"]["message"]["taskId"]), (&json!("theirs"), &json!("theirs")));
    assert_eq!(shown["history"].as_array().unwrap().len(), 1);
    let status = &shown["status"];
    assert_eq!(
        listed,
        json!({"tasks": [{"id": "theirs", "contextId": "c-1", "status": status}],
        "nextPageToken": "", "pageSize": 50, "totalSize": 1})
    );
}

#[test]
fn a_stream_shows_tasks_states_and_artifacts() {
    let status = streamed(V10, &status_event(TaskState::Working));
    let artifact = streamed(V10, &artifact_event(true, true));
    let first = streamed(V10, &artifact_event(false, false));

    assert_eq!(status["statusUpdate"]["taskId"], TASK);
    assert_eq!(status["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert!(status["statusUpdate"].get("final").is_none());
    assert_eq!(artifact["artifactUpdate"]["append"], true);
    assert_eq!(artifact["artifactUpdate"]["lastChunk"], true);
    assert_eq!(first["artifactUpdate"].as_object().unwrap().len(), 3);
}

#[test]
fn an_answer_without_a_task_is_a_message() {
    let reply = message("m", Role::Agent, vec![Part::text("hi")]);

    let once = serde_json::to_value(InDialect(V10, &StreamEvent::Reply(&reply))).unwrap();

    assert_eq!(once, json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}));
    assert_eq!(written(V10, &Answer::Replied(Box::new(reply))), once);
}

#[test]
fn push_configurations_are_flat_and_show_their_owner_what_was_given() {
    let flat = json!({"id": "p-1", "taskId": TASK, "url": "https://example.com/hook", "token": "t0ken",
        "authentication": {"scheme": "Bearer", "credentials": "cr3d"}});

    assert_eq!(written(V10, &Answer::Push(Box::new(push()))), flat);
    assert_eq!(written(V10, &Answer::Pushes(vec![push()])), json!({"configs": [flat]}));
    assert_eq!(written(V10, &Answer::Gone), json!({}));
    let read = decoded(V10, Method::SetPush, &flat).unwrap().operation;
    assert_eq!(read, Operation::SetPush { task: Some(TASK.parse().unwrap()), config: push().config });
}

#[test]
fn refusals_say_why_to_programs_too() {
    let info = |reason: &str| {
        json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
            "domain": "a2a-protocol.org", "metadata": {}})
    };

    let gone = serde_json::to_value(V10.error(&A2aError::TaskNotFound)).unwrap();
    let bad = serde_json::to_value(V10.error(&A2aError::invalid("message.parts[0]", "no body"))).unwrap();

    assert_eq!(gone["code"], -32_001);
    assert_eq!(gone["data"], json!([info("TASK_NOT_FOUND")]));
    let violation = json!({"@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": "message.parts[0]", "description": "no body"}]});
    assert_eq!(bad["data"], json!([info("INVALID_PARAMS"), violation]));
}
