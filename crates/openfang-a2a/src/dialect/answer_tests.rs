//! Documents of real peers, and how they are read.

use openfang_types::ids::TaskName;
use openfang_types::task::{Message, Part, PartBody, Role, TaskState};
use serde_json::{Value, json};

use super::super::samples::at;
use super::*;
use crate::peer::{PeerFault, PeerPush, PeerTask};

#[path = "answer_tests/errors.rs"]
mod errors;

fn now() -> Timestamp {
    at("2030-01-01T00:00:00Z")
}

fn reading() -> ReadContext<'static> {
    ReadContext { now: now(), task: None }
}

fn answered(dialect: Dialect, method: Method, document: &Value) -> Result<PeerAnswer, AnswerError> {
    let body = document.to_string();
    dialect.read_answer(method, &PeerResponse::response(200, body.as_bytes()), &reading())
}

/// The task that every dialect reads from a document.
fn task(document: Value) -> PeerTask {
    let read = Dialect::ALL.map(|dialect| match answered(dialect, Method::Send, &document) {
        Ok(PeerAnswer::Task(task)) => *task,
        other => panic!("{dialect:?}: {document} was read as {other:?}"),
    });
    let [task, ..] = read;
    task
}

/// A task with one additional member.
fn task_with(member: &str, value: Value) -> PeerTask {
    let mut document = json!({"id": "t", "contextId": "c", "status": {"state": "working"}});
    document[member] = value;
    task(document)
}

/// The member that every dialect refuses, and the reason.
fn unreadable(method: Method, document: &Value) -> (String, String) {
    let read = Dialect::ALL.map(|dialect| match answered(dialect, method, document) {
        Err(AnswerError::Unreadable { at, why }) => (at, why),
        other => panic!("{dialect:?}: {document} was read as {other:?}"),
    });
    let [first, ..] = read;
    first
}

fn event(dialect: Dialect, document: &Value) -> PeerEvent {
    let text = document.to_string();
    dialect.read_event(&PeerResponse::event("message", &text), &reading()).unwrap()
}

#[test]
fn states_are_read_in_any_case_prefix_and_spelling() {
    for (word, state) in [
        (json!("Completed"), TaskState::Completed),
        (json!("TASK_STATE_COMPLETED"), TaskState::Completed),
        (json!("completed"), TaskState::Completed),
        (json!("input-required"), TaskState::InputRequired),
        (json!("inputRequired"), TaskState::InputRequired),
        (json!("INPUT_REQUIRED"), TaskState::InputRequired),
        (json!("TASK_STATE_CANCELLED"), TaskState::Canceled),
        (json!("canceled"), TaskState::Canceled),
        (json!("AuthRequired"), TaskState::AuthRequired),
        (json!(3), TaskState::Completed),
        (json!(3.0), TaskState::Completed),
    ] {
        assert_eq!(task_with("status", json!({ "state": word })).status.state, state, "{word}");
        assert_eq!(task_with("status", word.clone()).status.state, state, "{word}");
    }
}

#[test]
fn a_state_that_nobody_knows_means_that_the_task_goes_on() {
    for word in
        [json!("unknown"), json!("TASK_STATE_UNSPECIFIED"), json!("pondering"), json!(0), json!(99), json!(null)]
    {
        assert_eq!(task_with("status", json!({ "state": word })).status.state, TaskState::Working, "{word}");
    }
    assert_eq!(task_with("status", Value::Null).status.state, TaskState::Working);
    assert_eq!(unreadable(Method::Get, &json!({"id": "t", "status": true})).0, "status");
}

#[test]
fn times_are_read_with_and_without_a_zone_and_are_now_if_they_cannot_be_read() {
    for (timestamp, read) in [
        (json!("2026-03-02T12:00:00Z"), at("2026-03-02T12:00:00Z")),
        (json!("2026-03-02T12:00:00+00:00"), at("2026-03-02T12:00:00Z")),
        (json!("2026-03-02T14:00:00.5+02:00"), at("2026-03-02T12:00:00.5Z")),
        (json!("2026-03-02T12:00:00.123456"), at("2026-03-02T12:00:00.123456Z")),
        (json!({"epochSeconds": 1, "nanosecondsOfSecond": 0}), now()),
        (json!("yesterday"), now()),
        (json!(1_700_000_000), now()),
        (Value::Null, now()),
    ] {
        let status = json!({"state": "working", "timestamp": timestamp});
        assert_eq!(task_with("status", status).status.timestamp, read, "{timestamp}");
    }
}

#[test]
fn parts_are_known_by_their_member_their_kind_or_their_type() {
    let file = |body| Part { filename: Some("f".into()), media_type: Some("a/b".into()), ..Part::new(body) };
    let (raw, url) = (file(PartBody::Raw(vec![0, 1])), file(PartBody::Url("https://e/".into())));
    for (written, read) in [
        (json!({"text": "hi"}), Part::text("hi")),
        (json!({"kind": "text", "text": "hi"}), Part::text("hi")),
        (json!({"type": "text", "text": "hi"}), Part::text("hi")),
        (json!({"kind": "text", "type": "text", "text": "hi", "data": null, "raw": null}), Part::text("hi")),
        (json!({"raw": "AAE=", "filename": "f", "mediaType": "a/b"}), raw.clone()),
        (json!({"kind": "file", "file": {"bytes": "AAE", "name": "f", "mimeType": "a/b"}}), raw.clone()),
        (json!({"file": {"fileWithBytes": "AAE=", "name": "f", "mime_type": "a/b"}}), raw.clone()),
        (json!({"type": "file", "name": "f", "mime_type": "a/b", "data": "AAE="}), raw),
        (json!({"url": "https://e/", "filename": "f", "media_type": "a/b"}), url.clone()),
        (json!({"type": "file", "file": {"uri": "https://e/", "name": "f", "mimeType": "a/b"}}), url.clone()),
        (json!({"file": {"file_with_uri": "https://e/", "name": "f", "mimeType": "a/b"}}), url),
        (json!({"data": {"a": 3.0, "b": [1.5]}}), Part::data(json!({"a": 3, "b": [1.5]}))),
        (json!({"kind": "data", "data": [1]}), Part::data(json!([1]))),
        (json!({"type": "data", "data": null}), Part::data(Value::Null)),
        (json!({"kind": "hologram", "beams": 3}), Part::data(json!({"kind": "hologram", "beams": 3}))),
    ] {
        let read_as = task_with("artifacts", json!([{"artifactId": "a", "parts": [written]}]));
        assert_eq!(read_as.artifacts[0].parts, [read], "{written}");
    }
}

#[test]
fn a_part_that_cannot_be_read_is_named() {
    let document = |part: Value| json!({"id": "t", "artifacts": [{"artifactId": "a", "parts": [{"text": ""}, part]}]});
    for (part, at) in [
        (json!("hi"), "artifacts[0].parts[1]"),
        (json!({"text": 5}), "artifacts[0].parts[1].text"),
        (json!({"raw": "not base64!"}), "artifacts[0].parts[1].file"),
        (json!({"kind": "file", "file": {"bytes": 7}}), "artifacts[0].parts[1].file"),
    ] {
        assert_eq!(unreadable(Method::Get, &document(part.clone())).0, at, "{part}");
    }
}

#[test]
fn roles_are_the_callers_or_else_the_peers() {
    for (role, read) in [
        (json!("user"), Role::User),
        (json!("ROLE_USER"), Role::User),
        (json!("User"), Role::User),
        (json!(1), Role::User),
        (json!("agent"), Role::Agent),
        (json!("Agent"), Role::Agent),
        (json!("ROLE_AGENT"), Role::Agent),
        (json!(2), Role::Agent),
        (json!("system"), Role::Agent),
        (Value::Null, Role::Agent),
    ] {
        let history = json!([{"messageId": "m", "role": role, "parts": [{"text": "x"}]}]);
        assert_eq!(task_with("history", history).history[0].role, read, "{role}");
    }
}

#[test]
fn turns_are_read_from_history_or_messages_in_any_form_and_get_an_id() {
    for turn in [
        json!({"role": "agent", "parts": [{"text": "hi"}]}),
        json!({"role": "agent", "content": {"type": "text", "text": "hi"}, "message_id": "m\u{0}"}),
        json!({"role": "agent", "content": "hi", "messageId": ""}),
        json!("hi"),
    ] {
        for member in ["history", "messages"] {
            let read = task_with(member, json!([turn])).history.remove(0);
            assert_eq!((read.role, read.joined_text().as_str()), (Role::Agent, "hi"), "{turn}");
            assert!(!read.message_id.as_str().is_empty());
        }
    }
    assert_eq!(unreadable(Method::Get, &json!({"id": "t", "history": [{"parts": 5}]})).0, "history[0].parts");
}

#[test]
fn artifacts_without_an_id_are_named_by_their_task_and_place() {
    let read = task_with(
        "artifacts",
        json!([
            {"name": null, "parts": [{"text": "a"}]},
            {"artifactId": "", "index": 7.0, "parts": []},
            {"artifactId": "own", "name": "n"},
        ]),
    );
    let ids: Vec<&str> = read.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
    assert_eq!(ids, ["t-0", "t-7", "own"]);
    assert_eq!((read.artifacts[0].name.as_deref(), read.artifacts[2].name.as_deref()), (None, Some("n")));
}

#[test]
fn a_task_is_found_in_a_wrapper_and_without_and_by_any_name() {
    for document in [
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": "working"}}}),
        json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}),
        json!({"id": "t", "context_id": "c", "status": "working", "message": null}),
        json!({"taskId": "t", "sessionId": "c", "status": {"state": "working"}}),
        json!({"task_id": "t", "session_id": "c"}),
    ] {
        let read = task(document.clone());
        assert_eq!((read.id.as_str(), read.context_id.unwrap().as_str()), ("t", "c"), "{document}");
        for dialect in Dialect::ALL {
            assert!(matches!(answered(dialect, Method::Get, &document), Ok(PeerAnswer::Task(_))), "{document}");
        }
    }
    let numbered = task(json!({"id": 7, "status": "completed"}));
    assert_eq!((numbered.id.as_str(), numbered.context_id), ("7", None));
}

#[test]
fn a_list_holds_tasks_bare_or_wrapped_and_counts_in_any_form() {
    let bare = json!({"id": "t", "status": "working"});
    for (document, counts) in [
        (json!({"tasks": [bare, {"task": bare}], "nextPageToken": "", "pageSize": 50.0, "totalSize": "2"}), (50, 2)),
        (json!({"tasks": [bare, bare], "next_page_token": null, "page_size": 50, "total_size": 2}), (50, 2)),
    ] {
        let Ok(PeerAnswer::Tasks(page)) = answered(Dialect::V10, Method::List, &document) else { panic!("{document}") };
        assert_eq!((page.tasks.len(), page.next_page_token), (2, None));
        assert_eq!((page.page_size, page.total), (Some(counts.0), Some(counts.1)));
    }
    let Ok(PeerAnswer::Tasks(page)) = answered(Dialect::V10, Method::List, &json!([bare])) else { panic!() };
    assert_eq!((page.tasks.len(), page.total), (1, None));
    assert_eq!(unreadable(Method::List, &json!({"tasks": [bare, {"status": "working"}]})).0, "tasks[1].id");
}

#[test]
fn push_configurations_are_read_flat_and_nested() {
    let config = || json!({"id": "p", "url": "https://e/", "token": "t", "authentication": {"scheme": "Bearer"}});
    let old = json!({"id": "p", "url": "https://e/", "token": "t", "authentication": {"schemes": ["Bearer"]}});
    let mut flat = config();
    flat["taskId"] = json!("x");
    let documents = [
        flat,
        json!({"taskId": "x", "pushNotificationConfig": config()}),
        json!({"task_id": "x", "push_notification_config": old}),
        json!({"id": "x", "pushNotificationConfig": old}),
        json!({"name": "tasks/x/pushNotificationConfigs/p", "pushNotificationConfig":
            {"url": "https://e/", "token": "t", "authentication": {"schemes": ["Bearer"]}}}),
    ];
    let mut read: Vec<PeerPush> = Vec::new();
    for document in &documents {
        match answered(Dialect::V03, Method::GetPush, document) {
            Ok(PeerAnswer::Push(push)) => read.push(*push),
            other => panic!("{document}: {other:?}"),
        }
    }
    let task: TaskName = "x".parse().unwrap();
    assert!(read.iter().all(|push| *push == read[0] && push.task.as_ref() == Some(&task)), "{read:?}");
    assert_eq!(read[0].config.authentication.as_ref().unwrap().scheme, "Bearer");
    for list in [json!(documents), json!({"configs": documents}), json!({"pushNotificationConfigs": documents})] {
        let Ok(PeerAnswer::Pushes(pushes)) = answered(Dialect::V10, Method::ListPush, &list) else { panic!("{list}") };
        assert_eq!(pushes, read);
    }
    for none in [json!(null), json!({}), json!([])] {
        assert!(
            matches!(answered(Dialect::V10, Method::ListPush, &none), Ok(PeerAnswer::Pushes(all)) if all.is_empty())
        );
    }
    assert_eq!(unreadable(Method::SetPush, &json!({"taskId": "x"})).0, "url");
}

#[test]
fn a_message_is_an_answer_with_and_without_its_kind() {
    let parts = json!([{"text": "hi"}]);
    for document in [
        json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts, "taskId": "t"}}),
        json!({"msg": {"messageId": "m", "role": "ROLE_AGENT", "content": parts, "taskId": "t"}}),
        json!({"kind": "message", "messageId": "m", "role": "agent", "parts": parts, "taskId": "t"}),
        json!({"messageId": "m", "role": "agent", "parts": parts, "taskId": "t"}),
    ] {
        let expected = Message::text("m".parse().unwrap(), Role::Agent, "hi");
        for dialect in Dialect::ALL {
            let Ok(PeerAnswer::Message(read)) = answered(dialect, Method::Send, &document) else {
                panic!("{document}")
            };
            assert_eq!((&read.message, read.task.unwrap().as_str()), (&expected, "t"), "{document}");
            assert!(matches!(event(dialect, &document), PeerEvent::Message(_)), "{document}");
        }
    }
}

#[test]
fn an_event_is_known_by_its_wrapper_its_kind_or_its_members() {
    let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}]});
    for dialect in Dialect::ALL {
        for document in [
            json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
            json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}}),
            json!({"taskId": "t", "contextId": "c", "status": {"state": "working"}, "final": false}),
            json!({"id": "t", "status": {"state": "working"}}),
        ] {
            let PeerEvent::Status(read) = event(dialect, &document) else { panic!("{document}") };
            assert_eq!((read.task.unwrap().as_str(), read.status.state), ("t", TaskState::Working), "{document}");
        }
        for document in [
            json!({"artifactUpdate": {"taskId": "t", "artifact": artifact, "append": true, "lastChunk": true}}),
            json!({"kind": "artifact-update", "taskId": "t", "artifact": artifact, "append": true, "last_chunk": true}),
            json!({"id": "t", "artifact": {"artifactId": "a", "parts": [{"text": "x"}], "append": true, "lastChunk": true}}),
        ] {
            let PeerEvent::Artifact(read) = event(dialect, &document) else { panic!("{document}") };
            assert_eq!((read.task.unwrap().as_str(), read.update.append, read.update.last_chunk), ("t", true, true));
            assert_eq!(read.update.artifact.artifact_id.as_str(), "a");
        }
        for document in [
            json!({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}),
            json!({"id": "t", "contextId": "c", "status": {"state": "working"}}),
            json!({"id": "t", "sessionId": "c", "status": {"state": "working"}, "final": false}),
        ] {
            assert!(matches!(event(dialect, &document), PeerEvent::Task(_)), "{dialect:?} {document}");
        }
        let nothing = dialect.read_event(&PeerResponse::event("message", "{}"), &reading()).unwrap_err();
        assert!(matches!(nothing, AnswerError::Unreadable { .. }));
    }
}

#[test]
fn the_task_that_is_followed_stands_in_where_an_event_names_none() {
    let followed: TaskName = "mine".parse().unwrap();
    let reading = ReadContext { task: Some(&followed), ..reading() };
    let read = |text: &str| Dialect::V01.read_event(&PeerResponse::event("message", text), &reading).unwrap();
    let PeerEvent::Status(status) = read(r#"{"status": {"state": "working"}, "final": false}"#) else { panic!() };
    assert_eq!(status.task, Some(followed.clone()));
    let PeerEvent::Artifact(brought) = read(r#"{"artifact": {"parts": [], "index": 2}}"#) else { panic!() };
    assert_eq!(brought.update.artifact.artifact_id.as_str(), "mine-2");
}

#[test]
fn a_stream_that_is_answered_with_one_document_is_read_as_one_event() {
    let item = json!({"task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}}});
    for document in [item.clone(), json!({"jsonrpc": "2.0", "id": null, "result": item})] {
        // The content type `application/json` or `application/a2a+json` makes no difference.
        let body = format!("\u{feff} {document}\r\n");
        let read = Dialect::V10
            .read_event(&PeerResponse::response(200, body.as_bytes()), &reading())
            .unwrap();
        assert!(matches!(read, PeerEvent::Task(_)), "{body}");
    }
}

#[test]
fn data_on_several_lines_is_one_document() {
    let joined = "{\"task\":\n{\"id\": \"t\"}}";
    assert!(matches!(
        Dialect::V10.read_event(&PeerResponse::event("message", joined), &reading()),
        Ok(PeerEvent::Task(_))
    ));
}

#[test]
fn a_blocking_call_that_comes_back_at_once_is_not_taken_for_the_end() {
    let read = task(json!({"task": {"id": "t", "status": {"state": "TASK_STATE_SUBMITTED"}}}));
    assert_eq!((read.status.state, read.is_settled()), (TaskState::Submitted, false));
    assert!(task_with("status", json!("input-required")).is_settled());
    assert!(task_with("status", json!("failed")).is_settled());
}

#[test]
fn a_flat_status_takes_the_agents_last_turn_for_what_it_says() {
    let turns =
        json!([{"role": "user", "parts": [{"text": "go"}]}, {"role": "agent", "parts": [{"text": "which one?"}]}]);
    let read = task(json!({"id": "t", "status": "inputRequired", "messages": turns}));
    assert_eq!((read.history.len(), read.status.message.unwrap().joined_text().as_str()), (1, "which one?"));
    let working = task(json!({"id": "t", "status": "working", "messages": turns}));
    assert_eq!((working.history.len(), working.status.message), (2, None));
}

#[test]
fn what_is_needed_to_go_on_is_named_when_it_is_missing_or_wrong() {
    for (method, document, at) in [
        (Method::Get, json!({"status": "working"}), "id"),
        (Method::Get, json!({"id": "a\nb"}), "id"),
        (Method::Get, json!({"id": {"no": "text"}}), "id"),
        (Method::Get, json!({"id": "t", "contextId": "x".repeat(300)}), "contextId"),
        (Method::Get, json!({"id": "t", "artifacts": {}}), "artifacts"),
        (Method::Get, json!({"id": "t", "artifacts": ["x"]}), "artifacts[0]"),
        (Method::Get, json!({"id": "t", "status": {"message": 5}}), "status.message"),
        (Method::Get, json!([]), ""),
        (Method::Get, json!(null), ""),
        (Method::ExtendedCard, json!([]), ""),
        (Method::List, json!("x"), ""),
    ] {
        let (field, why) = unreadable(method, &document);
        assert_eq!(field, at, "{document}: {why}");
        assert!(!why.is_empty() && why.len() < 400, "{why}");
    }
}

#[test]
fn what_only_describes_is_left_out_when_it_cannot_be_read() {
    let read = task(json!({"id": "t", "metadata": "none", "artifacts":
        [{"artifactId": "a", "name": 5, "description": [], "metadata": [], "extensions": "x"}]}));
    assert!(read.metadata.is_empty() && read.artifacts[0].name.is_none() && read.artifacts[0].extensions.is_empty());
}

#[test]
fn anything_is_taken_for_a_deletion() {
    for document in [json!(null), json!({}), json!(true)] {
        assert!(matches!(answered(Dialect::V03, Method::DeletePush, &document), Ok(PeerAnswer::Deleted)));
    }
    let nothing = Dialect::V10.read_answer(Method::DeletePush, &PeerResponse::response(204, b""), &reading());
    assert!(matches!(nothing, Ok(PeerAnswer::Deleted)));
}

#[test]
fn documents_that_parsers_disagree_about_or_that_grow_are_refused() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let wide = format!("[{}]", vec!["[]"; 3_000_000].join(","));
    for body in ["", " ", "<html>", "{\"id\": \"a\", \"id\": \"b\"}", "{\"id\": \"\\ud800\"}", &deep, &wide] {
        let read = Dialect::V10.read_answer(Method::Get, &PeerResponse::response(200, body.as_bytes()), &reading());
        assert!(matches!(read, Err(AnswerError::Unreadable { .. })), "{}", &body[..body.len().min(40)]);
    }
    let utf16: Vec<u8> = "{\"id\": \"t\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(
        Dialect::V10
            .read_answer(Method::Get, &PeerResponse::response(200, &utf16), &reading())
            .is_err()
    );
}
