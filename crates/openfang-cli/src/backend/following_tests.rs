//! Events of the API as items of a stream.

use super::*;

const TASK: &str = r#"{"id":"0199c0de-0000-7000-8000-000000000001","contextId":"c","agent":"a",
    "status":{"state":"working","timestamp":"2026-01-01T00:00:00Z"}}"#;
const MESSAGE: &str = r#"{"messageId":"m","role":"agent","parts":[{"text":"hi"}]}"#;

fn event(name: &str, data: &str) -> Event {
    Event { name: name.to_owned(), id: None, data: data.to_owned() }
}

#[test]
fn every_event_of_the_api_is_understood_and_unknown_ones_are_passed_over() {
    let status = r#"{"taskId":"0199c0de-0000-7000-8000-000000000001","seq":1,"at":"2026-01-01T00:00:00Z",
        "body":{"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"}}}"#;

    let task = shown(&event("task", &format!(r#"{{"task":{TASK}}}"#))).unwrap();
    assert!(matches!(task, Some(StreamUpdate::Task(task)) if task.agent.as_str() == "a"));
    let happened = shown(&event("status", status)).unwrap();
    assert!(matches!(happened, Some(StreamUpdate::Event(event)) if event.seq == 1));
    let reply = shown(&event("reply", &format!(r#"{{"message":{MESSAGE}}}"#))).unwrap();
    assert!(matches!(reply, Some(StreamUpdate::Message(message)) if message.joined_text() == "hi"));
    assert_eq!(shown(&event("shutdown", "{}")).unwrap(), Some(StreamUpdate::Shutdown {}));
    assert_eq!(shown(&event("weather", "sunny")).unwrap(), None);
}

#[test]
fn an_error_event_is_the_refusal_it_tells() {
    let refused = shown(&event("error", r#"{"error":{"code":"store","message":"full"}}"#)).unwrap_err();

    assert!(matches!(refused, CliError::Refused(refusal) if refusal.code == "store"));
}

#[test]
fn an_event_that_cannot_be_read_is_an_error() {
    assert!(matches!(shown(&event("status", "{}")), Err(CliError::Answer { .. })));
}
