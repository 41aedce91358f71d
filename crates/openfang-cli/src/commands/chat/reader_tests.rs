//! What the stream of a turn becomes.

use openfang_types::event::{ArtifactUpdate, EventBody, TaskEvent};
use openfang_types::task::{CallNote, CallNoteOutcome, TaskStatus, TurnUsage};
use serde_json::json;

use super::*;

fn task() -> Task {
    serde_json::from_value(json!({
        "id": "0190a000-0000-7000-8000-000000000001", "contextId": "c", "agent": "thinker",
        "status": { "state": "working", "timestamp": "2026-01-01T00:00:00Z" },
    }))
    .unwrap()
}

fn event(body: EventBody) -> StreamUpdate {
    let event = TaskEvent { task_id: task().id, seq: 1, at: "2026-01-01T00:00:00Z".parse().unwrap(), body };
    StreamUpdate::Event(Box::new(event))
}

fn artifact(id: &str, name: &str, text: &str, append: bool) -> StreamUpdate {
    let artifact = Artifact::of_parts(id.parse().unwrap(), Some(name.to_owned()), vec![Part::text(text)]);
    event(EventBody::Artifact(ArtifactUpdate { artifact, append, last_chunk: false }))
}

fn reply(text: &str, append: bool) -> StreamUpdate {
    artifact("reply-1", "reply", text, append)
}

fn working(id: &str, part: Part) -> StreamUpdate {
    let message = Message::of_parts(id.parse().unwrap(), Role::Agent, vec![part]);
    let timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    event(EventBody::Status(TaskStatus { state: TaskState::Working, message: Some(message), timestamp }))
}

fn note() -> CallNote {
    CallNote { tool: "add".to_owned(), arguments: json!({}), millis: 1, outcome: CallNoteOutcome::Done }
}

fn text(text: &str) -> ChatEvent {
    ChatEvent::Text { text: text.to_owned(), again: false }
}

fn again(text: &str) -> ChatEvent {
    ChatEvent::Text { text: text.to_owned(), again: true }
}

fn read(reader: &mut TurnReader, updates: Vec<StreamUpdate>) -> Vec<ChatEvent> {
    updates.into_iter().flat_map(|update| reader.take(update)).collect()
}

#[test]
fn what_a_model_says_before_its_calls_is_shown_once_and_its_answer_is_no_repetition() {
    let mut reader = TurnReader::default();
    let shown = read(
        &mut reader,
        vec![
            StreamUpdate::Task(Box::new(task())),
            reply("Let me ", false),
            reply("add.", true),
            artifact("commentary-1.1", "commentary", "Let me add.", false),
            working("m-1", Part::beginning_calls(&["add"])),
            working("m-2", Part::ended_call(&note())),
            reply("It is 3.", false),
        ],
    );
    let calls = ChatEvent::Calls { tools: vec!["add".to_owned()] };
    assert_eq!(shown, [text("Let me "), text("add."), calls, ChatEvent::Call(note()), text("It is 3.")]);
}

#[test]
fn an_answer_that_begins_again_says_so() {
    let mut reader = TurnReader::default();
    let shown =
        read(&mut reader, vec![StreamUpdate::Task(Box::new(task())), reply("It", false), reply("It is", false)]);
    assert_eq!(shown, [text("It"), again("It is")]);
}

#[test]
fn a_second_look_shows_only_what_is_new() {
    let mut reader = TurnReader::default();
    let first =
        vec![StreamUpdate::Task(Box::new(task())), reply("One", false), working("m-1", Part::ended_call(&note()))];
    read(&mut reader, first);
    let known = reader.task().cloned().unwrap();
    let mut later = known.clone();
    let usage = TurnUsage {
        model: "m".to_owned(),
        steps: 1,
        input_tokens: 1,
        cached_tokens: None,
        output_tokens: 1,
        cost_usd: None,
        missed_tokens: 0,
    };
    for update in [reply(" and two", true), working("m-2", Part::turn_usage(&usage))] {
        let StreamUpdate::Event(event) = update else { unreachable!() };
        later.apply(&event.body);
    }

    let mut reader = TurnReader::knowing(known);
    let shown = read(&mut reader, vec![StreamUpdate::Task(Box::new(later.clone()))]);

    assert_eq!(shown, [ChatEvent::Usage(usage), text(" and two")]);
    assert!(read(&mut reader, vec![StreamUpdate::Task(Box::new(later))]).is_empty());
}

#[test]
fn what_is_counted_is_progress_and_other_remarks_are_notes() {
    let mut reader = TurnReader::default();
    let counted = Part::progress("1 of 3", Some(1.0), Some(3.0));
    let said = Part::progress("fake/m cannot answer; going on with fake/other", None, None);
    let shown =
        read(&mut reader, vec![StreamUpdate::Task(Box::new(task())), working("m-1", counted), working("m-2", said)]);
    let note = ChatEvent::Note { text: "fake/m cannot answer; going on with fake/other".to_owned() };
    assert_eq!(shown, [ChatEvent::Progress { text: "1 of 3".to_owned() }, note]);
}
