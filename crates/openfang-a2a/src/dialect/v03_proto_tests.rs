//! 0.3 on HTTP+JSON as `a2a-sdk` 0.3.26 and `@a2a-js/sdk` 0.3.14 send and read it.

use openfang_types::task::{Part, PartBody, Role, TaskState};
use serde_json::{Value, json};

use super::super::Dialect;
use super::super::samples::*;
use crate::answer::Answer;
use crate::operation::{HistoryLength, Method, Operation, ReplyMode, TaskReference};

const PROTO: Dialect = Dialect::V03Proto;

#[test]
fn a_message_of_the_sdks_is_read() {
    let params = json!({
        "message": {"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "content": [
            {"text": "hi"},
            {"file": {"fileWithBytes": "AP8Q", "mimeType": "x/y", "name": "f"}},
            {"file": {"fileWithUri": "https://e/"}},
            {"data": {"data": {"tool": "t"}}},
            {"data": {}},
        ]},
        "configuration": {"blocking": true, "pushNotification": {"url": "https://e/",
            "authentication": {"schemes": ["Bearer"], "credentials": "c"}}},
    });

    let sending = sending(PROTO, Method::Send, &params);

    let parts = &sending.message.parts;
    assert_eq!(parts[0].as_text(), Some("hi"));
    assert_eq!(parts[1], Part::file(vec![0, 255, 16], Some("f".into()), Some("x/y".into())));
    assert_eq!(parts[2].body, PartBody::Url("https://e/".into()));
    assert_eq!((parts[3].as_data(), parts[4].as_data()), (Some(&json!({"tool": "t"})), Some(&json!({}))));
    assert_eq!(sending.task, Some(TaskReference::Existing("t".parse().unwrap())));
    assert_eq!(sending.answer, ReplyMode::Settled);
    assert_eq!(sending.push.unwrap().authentication.unwrap().scheme, "Bearer");
}

#[test]
fn what_is_absent_is_false_so_nobody_waits() {
    let when = |configuration: Value| {
        let message = json!({"message_id": "m", "role": 1, "content": [{"text": "hi"}]});
        sending(PROTO, Method::Send, &json!({"request": message, "configuration": configuration})).answer
    };
    assert_eq!(when(json!(null)), ReplyMode::AtOnce);
    assert_eq!(when(json!({})), ReplyMode::AtOnce);
    assert_eq!(when(json!({"blocking": true})), ReplyMode::Settled);
}

#[test]
fn a_task_is_named_by_its_resource_or_by_its_path() {
    let get = |params: Value| decoded(PROTO, Method::Get, &params).unwrap().operation;
    let expected = Operation::Get { task: "t".parse().unwrap(), history: HistoryLength(Some(2)) };

    assert_eq!(get(json!({"name": "tasks/t", "historyLength": 2})), expected);
    assert_eq!(get(json!({"id": "t", "historyLength": "2"})), expected);
    assert_eq!(get(json!({"taskId": "t", "history_length": 2})), expected);
    assert_eq!(refusal(PROTO, Method::Get, &json!({"name": "t"})).0, "name");
    assert_eq!(refusal(PROTO, Method::Get, &json!({"name": "tasks/"})).0, "name");
    assert_eq!(refusal(PROTO, Method::Cancel, &json!({})).0, "name");
}

#[test]
fn a_push_configuration_is_named_in_all_ways() {
    let expected = Operation::GetPush { task: "t".parse().unwrap(), id: Some("p".into()) };
    for params in [
        json!({"name": "tasks/t/pushNotificationConfigs/p"}),
        json!({"taskId": "t", "id": "p"}),
        json!({"id": "t", "pushNotificationConfigId": "p"}),
        json!({"task_id": "t", "config_id": "p"}),
    ] {
        assert_eq!(decoded(PROTO, Method::GetPush, &params).unwrap().operation, expected);
    }
    assert_eq!(refusal(PROTO, Method::DeletePush, &json!({"name": "tasks/t"})).0, "name");
}

#[test]
fn a_push_configuration_is_set_as_either_sdk_sends_it() {
    let config = json!({"url": "https://e/", "id": "p", "token": "t"});
    let bodies = [
        json!({"parent": "tasks/t", "configId": "p", "config":
            {"name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": config}}),
        json!({"name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": config}),
        json!({"name": "tasks/t/pushNotificationConfigs/", "pushNotificationConfig": config}),
        json!({"taskId": "t", "push_notification_config": config}),
    ];
    for body in bodies {
        let Operation::SetPush { task, config } = decoded(PROTO, Method::SetPush, &body).unwrap().operation else {
            panic!()
        };
        assert_eq!(task.unwrap().as_str(), "t");
        assert_eq!((config.id.as_deref(), config.url.as_str()), (Some("p"), "https://e/"));
    }
    let nameless = json!({"pushNotificationConfig": {"url": "https://e/"}});
    let Operation::SetPush { task, config } = decoded(PROTO, Method::SetPush, &nameless).unwrap().operation else {
        panic!()
    };
    assert_eq!((task, config.id), (None, None));
}

#[test]
fn a_task_is_written_as_the_protocol_buffers_have_it() {
    let task = written(PROTO, &sent(rich_task(TaskState::Canceled)));

    let task = &task["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_CANCELLED");
    let said = json!({"messageId": "m-3", "contextId": "c-1", "taskId": TASK, "role": "ROLE_AGENT",
        "content": [{"text": "so it is"}]});
    assert_eq!(task["status"]["message"], said);
    assert_eq!(task["metadata"]["statusHistory"][1]["state"], "canceled");
    let parts = json!([
        {"text": "hello", "metadata": {"part": {"deep": [1, null, "x"]}}},
        {"file": {"fileWithBytes": "AP8Q", "mimeType": "application/octet-stream", "name": "a.bin"}},
        {"file": {"fileWithUri": "https://example.com/b.png", "mimeType": "image/png", "name": "b.png"}},
        {"data": {"data": {"tool": "add_numbers"}}},
        {"data": {"data": {"value": [1, 2]}}, "metadata": {"data_part_compat": true}},
        {"data": {"data": {"value": null}}, "metadata": {"data_part_compat": true}},
    ]);
    assert_eq!(task["artifacts"][0]["parts"], parts);
    assert_eq!(task["history"][0]["content"], parts);
}

#[test]
fn streams_and_answers_are_wrapped() {
    let status = streamed(PROTO, &status_event(TaskState::Completed));
    let working = streamed(PROTO, &status_event(TaskState::Working));
    let reply = message("m", Role::Agent, vec![Part::text("hi")]);

    assert_eq!(status["statusUpdate"]["final"], true);
    assert!(working["statusUpdate"].get("final").is_none());
    assert_eq!(streamed(PROTO, &artifact_event(true, false))["artifactUpdate"]["append"], true);
    assert_eq!(written(PROTO, &Answer::Replied(Box::new(reply)))["message"]["content"], json!([{"text": "hi"}]));
}

#[test]
fn push_configurations_carry_their_resource_name() {
    let shown = json!({"name": format!("tasks/{TASK}/pushNotificationConfigs/p-1"), "pushNotificationConfig":
        {"id": "p-1", "url": "https://example.com/hook", "token": "t0ken",
        "authentication": {"schemes": ["Bearer"], "credentials": "cr3d"}}});

    assert_eq!(written(PROTO, &Answer::Push(Box::new(push()))), shown);
    assert_eq!(written(PROTO, &Answer::Pushes(vec![push()])), json!({"configs": [shown]}));
    assert_eq!(written(PROTO, &Answer::Gone), json!({}));
}
