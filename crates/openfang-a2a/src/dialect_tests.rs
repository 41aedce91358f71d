//! Rules for all dialects: everything written is valid, no input panics, and invalid input is refused.

use openfang_types::event::StreamItem;
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};

use super::samples::schemas::Schema;
use super::samples::*;
use super::*;

#[path = "dialect_tests/hostile.rs"]
mod hostile;
#[path = "dialect_tests/laws.rs"]
mod laws;
#[path = "dialect_tests/requests.rs"]
mod requests;
#[path = "dialect_tests/round_trips.rs"]
mod round_trips;

fn result(of: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "result": of})
}

/// Validates an answer against its official definition.
pub(super) fn validate(dialect: Dialect, answer: &Answer) {
    let document = written(dialect, answer);
    match dialect {
        Dialect::OpenFang => openfang(answer, &document),
        Dialect::V01 => v01(answer, &document),
        Dialect::V03 => {
            for schema in [&*schemas::V02, &*schemas::V03] {
                v03(schema, answer, &document);
            }
        }
        Dialect::V03Proto => v03_proto(answer, &document),
        Dialect::V10 => v10(answer, &document),
    }
}

fn openfang(answer: &Answer, document: &Value) {
    match answer {
        Answer::Sent(..) | Answer::Task(..) | Answer::Replied(_) => schemas::OPENFANG.holds("Task", document),
        Answer::Tasks(_) | Answer::Push(_) | Answer::Pushes(_) | Answer::Gone | Answer::Card(_) => {}
    }
}

fn v01(answer: &Answer, document: &Value) {
    let definition = match answer {
        Answer::Sent(..) => "SendTaskResponse",
        Answer::Task(..) => "GetTaskResponse",
        Answer::Push(_) => "GetTaskPushNotificationResponse",
        Answer::Replied(_) => {
            // A task that is also its own last event.
            schemas::V01.holds("TaskStatusUpdateEvent", &without(document, &["sessionId"]));
            return schemas::V01.holds("Task", &without(document, &["final"]));
        }
        Answer::Tasks(_) | Answer::Pushes(_) | Answer::Gone | Answer::Card(_) => return,
    };
    schemas::V01.holds(definition, &result(document));
}

fn v03(schema: &Schema, answer: &Answer, document: &Value) {
    let definition = match answer {
        Answer::Sent(..) | Answer::Replied(_) => "SendMessageSuccessResponse",
        Answer::Task(..) => "GetTaskSuccessResponse",
        Answer::Push(_) => "SetTaskPushNotificationConfigSuccessResponse",
        Answer::Pushes(_) => "ListTaskPushNotificationConfigSuccessResponse",
        Answer::Gone => "DeleteTaskPushNotificationConfigSuccessResponse",
        Answer::Tasks(_) | Answer::Card(_) => return,
    };
    schema.holds(definition, &result(document));
}

fn v03_proto(answer: &Answer, document: &Value) {
    let message = match answer {
        Answer::Sent(..) | Answer::Replied(_) => "SendMessageResponse",
        Answer::Task(..) => "Task",
        Answer::Push(_) => "TaskPushNotificationConfig",
        Answer::Pushes(_) => "ListTaskPushNotificationConfigResponse",
        Answer::Gone => return assert_eq!(document, &json!({})),
        Answer::Tasks(_) | Answer::Card(_) => return,
    };
    proto::V03.holds(message, document);
}

fn v10(answer: &Answer, document: &Value) {
    let message = match answer {
        Answer::Sent(..) | Answer::Replied(_) => "SendMessageResponse",
        Answer::Task(..) => "Task",
        Answer::Tasks(_) => "ListTasksResponse",
        Answer::Push(_) => "TaskPushNotificationConfig",
        Answer::Pushes(_) => "ListTaskPushNotificationConfigsResponse",
        Answer::Gone => return assert_eq!(document, &json!({})),
        Answer::Card(_) => return,
    };
    proto::V10.holds(message, document);
}

/// Validates a stream item in the same way.
pub(super) fn validate_item(dialect: Dialect, item: &StreamItem) {
    let document = streamed(dialect, item);
    if !dialect.can_write(StreamEvent::Item(&head(), item)) {
        return;
    }
    match dialect {
        Dialect::OpenFang => schemas::OPENFANG.holds("Task", &document),
        Dialect::V01 => match item {
            StreamItem::Snapshot(..) => {
                let rest = ["sessionId", "artifacts", "history"];
                schemas::V01.holds("TaskStatusUpdateEvent", &without(&document, &rest));
                schemas::V01.holds("Task", &without(&document, &["final"]));
            }
            StreamItem::Event(_) | StreamItem::Shutdown => {
                schemas::V01.holds("SendTaskStreamingResponse", &result(&document));
            }
        },
        Dialect::V03 => {
            for schema in [&*schemas::V02, &*schemas::V03] {
                schema.holds("SendStreamingMessageSuccessResponse", &result(&document));
            }
        }
        Dialect::V03Proto => proto::V03.holds("StreamResponse", &document),
        Dialect::V10 => proto::V10.holds("StreamResponse", &document),
    }
}

fn without(document: &Value, members: &[&str]) -> Value {
    let mut rest = document.clone();
    rest.as_object_mut().unwrap().retain(|key, _| !members.contains(&key.as_str()));
    rest
}

fn tasks() -> impl Iterator<Item = Task> {
    TaskState::ALL.into_iter().flat_map(|state| [rich_task(state), bare_task(state)])
}

#[test]
fn everything_that_is_written_validates_against_the_official_schemas() {
    for dialect in Dialect::ALL {
        for task in tasks() {
            answers(task.clone()).iter().for_each(|answer| validate(dialect, answer));
            items(&task).iter().for_each(|item| validate_item(dialect, item));
        }
    }
}

#[test]
fn refusals_validate_too() {
    let errors =
        [A2aError::TaskNotFound, A2aError::invalid("id", "missing"), A2aError::VersionNotSupported("9".into())];
    for error in errors {
        let object = |dialect: Dialect| json!({"jsonrpc": "2.0", "id": 1, "error": dialect.error(&error)});

        schemas::V01.holds("JSONRPCResponse", &object(Dialect::V01));
        schemas::V02.holds("JSONRPCErrorResponse", &object(Dialect::V03));
        schemas::V03.holds("JSONRPCErrorResponse", &object(Dialect::V03));
        for dialect in Dialect::ALL {
            assert_eq!(object(dialect)["error"]["code"], error.code());
            assert_eq!(object(dialect)["error"].get("data").is_some(), dialect == Dialect::V10);
        }
    }
}

#[test]
fn a_card_is_handed_through_as_it_is() {
    let card = || serde_json::value::RawValue::from_string("{\"b\": 1,  \"a\": 2.50}".into()).unwrap();
    for dialect in Dialect::ALL {
        let text = serde_json::to_string(&InDialect(dialect, &Answer::Card(card()))).unwrap();
        assert_eq!(text, card().get());
    }
}

#[test]
fn what_the_caller_said_and_the_end_of_the_server_are_shown_to_nobody() {
    for dialect in Dialect::ALL {
        for item in &items(&rich_task(TaskState::Working))[4..] {
            assert!(!dialect.can_write(StreamEvent::Item(&head(), item)), "{dialect:?}");
            streamed(dialect, item);
        }
    }
}

#[test]
fn every_method_has_one_name_and_is_read_into_what_it_stands_for() {
    for dialect in Dialect::ALL {
        for (name, method) in dialect.methods() {
            let same = dialect.methods().iter().filter(|(other, of)| other == name || of == method).count();
            assert_eq!(same, 1, "{name}");
            let operation = decoded(dialect, *method, &valid(dialect, *method)).unwrap().operation;
            assert_eq!(operation.method(), *method, "{name}");
        }
    }
}
