//! The state rule, the fold, and the JSON of parts.

use serde_json::json;

use super::*;
use crate::event::ArtifactUpdate;

fn task() -> Task {
    Task {
        id: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        context_id: "c".parse().unwrap(),
        agent: "starter".parse().unwrap(),
        status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: Timestamp::UNIX_EPOCH },
        history: Vec::new(),
        artifacts: Vec::new(),
        transitions: Vec::new(),
    }
}

#[test]
fn nothing_follows_a_terminal_state_and_nothing_becomes_submitted_again() {
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let expected = !from.is_terminal() && to != TaskState::Submitted;
            assert_eq!(from.can_become(to), expected, "{from} to {to}");
        }
    }
}

#[test]
fn every_state_has_one_word_and_is_found_by_it() {
    for state in TaskState::ALL {
        assert_eq!(TaskState::from_word(state.as_str()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), json!(state.as_str()));
    }
}

#[test]
fn appended_chunks_join_their_artifact_and_a_plain_update_replaces_it() {
    let update = |text: &str, append| {
        EventBody::Artifact(ArtifactUpdate {
            artifact: Artifact::of_parts("a".parse().unwrap(), None, vec![Part::text(text)]),
            append,
            last_chunk: false,
        })
    };
    let mut task = task();
    for event in [update("one", true), update("two", true)] {
        task.apply(&event);
    }
    assert_eq!(task.artifacts[0].parts, [Part::text("one"), Part::text("two")]);

    task.apply(&update("new", false));
    assert_eq!(task.artifacts[0].parts, [Part::text("new")]);
}

#[test]
fn a_part_is_what_its_one_member_says() {
    let rows = [
        (json!({"text": "hi"}), Part::text("hi")),
        (json!({"data": {"a": 1}}), Part::data(json!({"a": 1}))),
        (json!({"data": null}), Part::data(Value::Null)),
        (
            json!({"raw": "AQI=", "filename": "x.bin", "mediaType": "application/octet-stream"}),
            Part::file(vec![1, 2], Some("x.bin".into()), Some("application/octet-stream".into())),
        ),
        (json!({"url": "https://example.org/x"}), Part::new(PartBody::Url("https://example.org/x".into()))),
    ];
    for (wire, part) in rows {
        assert_eq!(serde_json::from_value::<Part>(wire.clone()).unwrap(), part);
        assert_eq!(serde_json::to_value(&part).unwrap(), wire);
    }
}

#[test]
fn a_part_with_no_member_two_members_or_broken_base64_is_refused() {
    for bad in [json!({}), json!({"text": "a", "data": 1}), json!({"raw": "%%"}), json!("text")] {
        assert!(serde_json::from_value::<Part>(bad.clone()).is_err(), "{bad}");
    }
}
