//! What a daemon's answers become.

use super::*;

fn answer(status: StatusCode, body: &str) -> Answer {
    Answer { status, body: body.to_owned().into() }
}

#[test]
fn an_error_of_the_api_keeps_its_words() {
    let body = r#"{"error":{"code":"unknown_tool","message":"there is no tool x","trace":"t"}}"#;

    let error = typed::<AgentList>(&answer(StatusCode::NOT_FOUND, body)).map(drop).unwrap_err();

    assert_eq!(error.to_json(), serde_json::from_str::<Value>(body).unwrap());
}

#[test]
fn an_answer_that_is_something_else_is_an_error_with_a_hint() {
    let rows = [
        (StatusCode::OK, "{}"),
        (StatusCode::OK, "<html>"),
        (StatusCode::BAD_GATEWAY, "<html>"),
        (StatusCode::INTERNAL_SERVER_ERROR, ""),
    ];
    for (status, body) in rows {
        let error = typed::<AgentList>(&answer(status, body)).map(drop).unwrap_err();

        assert!(matches!(error, CliError::Answer { .. }), "{error}");
        assert!(error.to_string().contains("openfang status"));
    }
}

#[test]
fn a_message_names_its_task_only_if_it_continues_one() {
    let task: TaskId = "0199c0de-0000-7000-8000-000000000001".parse().unwrap();
    let message = |task| Outgoing { task, ..Outgoing::text("a".parse().unwrap(), "hi") };

    assert_eq!(body_of(&message(None)), json!({ "text": "hi" }));
    assert_eq!(body_of(&message(Some(task))), json!({ "text": "hi", "taskId": task }));
}
