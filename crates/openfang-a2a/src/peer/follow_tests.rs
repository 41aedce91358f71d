//! What a followed task is believed to be.

use openfang_types::event::ArtifactUpdate;
use openfang_types::task::{Message, Part, Role, TaskState, TaskStatus};
use serde_json::Map;

use super::*;
use crate::peer::{PeerArtifact, PeerMessage, PeerStatus, cursor};

fn status(state: TaskState, said: Option<&str>) -> TaskStatus {
    let said = said.map(|text| Message::text("m".parse().unwrap(), Role::Agent, text));
    TaskStatus { state, message: said, timestamp: "2026-03-02T12:00:00Z".parse().unwrap() }
}

fn task(state: TaskState, artifacts: Vec<Artifact>) -> PeerTask {
    PeerTask {
        id: "t".parse().unwrap(),
        context_id: None,
        status: status(state, None),
        history: Vec::new(),
        artifacts,
        metadata: Map::new(),
    }
}

fn artifact(id: &str, texts: &[&str]) -> Artifact {
    Artifact::of_parts(id.parse().unwrap(), None, texts.iter().map(|text| Part::text(*text)).collect())
}

fn changed(task: Option<&str>, state: TaskState) -> PeerEvent {
    PeerEvent::Status(Box::new(PeerStatus {
        task: task.map(|task| task.parse().unwrap()),
        context_id: None,
        status: status(state, None),
        is_final: false,
        metadata: Map::new(),
    }))
}

fn brought(id: &str, texts: &[&str], append: bool) -> PeerEvent {
    let update = ArtifactUpdate { artifact: artifact(id, texts), append, last_chunk: false };
    PeerEvent::Artifact(Box::new(PeerArtifact { task: None, context_id: None, update }))
}

#[test]
fn events_are_folded_into_the_task() {
    let mut followed = FollowedTask::new(task(TaskState::Submitted, vec![]));
    for event in [
        changed(Some("t"), TaskState::Working),
        brought("a", &["1"], false),
        brought("a", &["2"], true),
        brought("b", &["x"], true),
        brought("b", &["y"], false),
        changed(None, TaskState::Completed),
    ] {
        followed.apply(event).unwrap();
    }
    assert_eq!(followed.task().artifacts, [artifact("a", &["1", "2"]), artifact("b", &["y"])]);
    assert_eq!((followed.task().status.state, followed.needs_fetch()), (TaskState::Completed, false));
}

#[test]
fn an_end_without_a_result_is_looked_at_once_more() {
    let mut followed = FollowedTask::new(task(TaskState::Working, vec![]));
    assert!(!followed.needs_fetch());
    followed.apply(changed(None, TaskState::Completed)).unwrap();
    assert!(followed.needs_fetch());
    followed.fetched(task(TaskState::Completed, vec![artifact("a", &["1"])])).unwrap();
    assert!(!followed.needs_fetch());
    assert_eq!(followed.task().artifacts.len(), 1);
}

#[test]
fn what_was_missed_while_a_stream_was_cut_is_fetched_and_joined_by_the_longer() {
    let mut followed =
        FollowedTask::new(task(TaskState::Working, vec![artifact("a", &["1"]), artifact("b", &["1", "2"])]));
    followed.resumed();
    assert!(followed.needs_fetch());
    let seen = task(TaskState::Working, vec![artifact("a", &["1", "2"]), artifact("b", &["1"]), artifact("c", &[])]);
    followed.fetched(seen).unwrap();
    assert!(!followed.needs_fetch());
    let expected = [artifact("a", &["1", "2"]), artifact("b", &["1", "2"]), artifact("c", &[])];
    assert_eq!(followed.task().artifacts, expected);
}

#[test]
fn the_first_end_that_was_seen_stays() {
    let mut followed = FollowedTask::new(task(TaskState::Completed, vec![]));
    followed.apply(changed(None, TaskState::Canceled)).unwrap();
    followed.apply(changed(None, TaskState::Working)).unwrap();
    followed.apply(PeerEvent::Task(Box::new(task(TaskState::Failed, vec![])))).unwrap();
    assert_eq!(followed.task().status.state, TaskState::Completed);
    let said = PeerTask { status: status(TaskState::Completed, Some("done")), ..task(TaskState::Completed, vec![]) };
    followed.fetched(said).unwrap();
    assert_eq!(followed.task().status.message.as_ref().unwrap().joined_text(), "done");
}

#[test]
fn another_task_in_our_stream_is_a_stray() {
    let mut followed = FollowedTask::new(task(TaskState::Working, vec![]));
    let other = PeerTask { id: "new".parse().unwrap(), ..task(TaskState::Submitted, vec![]) };
    let stray = WrongTask { expected: "t".parse().unwrap(), found: "new".parse().unwrap() };
    assert_eq!(followed.fetched(other.clone()), Err(stray.clone()));
    assert_eq!(followed.apply(PeerEvent::Task(Box::new(other))), Err(stray.clone()));
    assert_eq!(followed.apply(changed(Some("new"), TaskState::Failed)), Err(stray));
    assert_eq!(followed.task(), &task(TaskState::Working, vec![]));
}

#[test]
fn a_message_within_a_stream_is_a_turn() {
    let mut followed = FollowedTask::new(task(TaskState::Working, vec![]));
    let message = Message::text("m".parse().unwrap(), Role::Agent, "hm");
    followed.apply(PeerEvent::Message(Box::new(PeerMessage { task: None, message }))).unwrap();
    assert_eq!(followed.task().history.len(), 1);
}

#[test]
fn only_ids_of_our_own_form_are_places_to_resume_at() {
    let task: TaskName = "t:1".parse().unwrap();
    assert_eq!(cursor("t:1:42", &task), Some("t:1:42"));
    for id in ["", "42", "1741870000000", "t:42", "t:1:", "t:1:x", "t:1:-1"] {
        assert_eq!(cursor(id, &task), None, "{id:?}");
    }
}
