//! Property tests over generated tasks and messages.

use openfang_types::task::{Artifact, Message, Part, PartBody, Role, Task, TaskState, TaskStatus, Transition};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::samples::*;
use super::super::*;
use super::{validate, validate_item};
use crate::operation::HistoryLength;

pub(super) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map("[a-z]{1,4}", inner, 0..3).prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

fn metadata() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("[a-zA-Z_]{1,5}", value(), 0..3).prop_map(Map::from_iter)
}

fn part() -> impl Strategy<Value = Part> {
    let body = prop_oneof![
        ".{0,12}".prop_map(PartBody::Text),
        vec(any::<u8>(), 0..12).prop_map(PartBody::Raw),
        "https://[a-z]{1,8}/".prop_map(PartBody::Url),
        value().prop_map(PartBody::Data),
    ];
    let word = || option::of("[a-z./]{1,8}");
    (body, word(), word(), metadata()).prop_map(|(body, filename, media_type, metadata)| Part {
        body,
        filename: filename.map(Into::into),
        media_type,
        metadata,
    })
}

pub(super) fn message(role: impl Strategy<Value = Role>) -> impl Strategy<Value = Message> {
    let id = || "[ -~]{1,12}";
    let words = || vec("[a-z:]{1,6}", 0..3);
    (id(), role, vec(part(), 1..4), option::of(id()), metadata(), words(), words()).prop_map(
        |(id, role, parts, context, metadata, extensions, references)| Message {
            context_id: context.map(|context| context.parse().unwrap()),
            metadata,
            extensions,
            reference_task_ids: references,
            ..Message::of_parts(id.parse().unwrap(), role, parts)
        },
    )
}

pub(super) fn any_message() -> impl Strategy<Value = Message> {
    message(prop_oneof![Just(Role::User), Just(Role::Agent)])
}

pub(super) fn artifact() -> impl Strategy<Value = Artifact> {
    let word = || option::of("[ -~]{0,8}");
    ("[ -~]{1,12}", word(), word(), vec(part(), 0..3), metadata()).prop_map(
        |(id, name, description, parts, metadata)| Artifact {
            description,
            metadata,
            ..Artifact::of_parts(id.parse().unwrap(), name, parts)
        },
    )
}

pub(super) fn task() -> impl Strategy<Value = Task> {
    let state = || proptest::sample::select(TaskState::ALL.to_vec());
    let moment = || (0_i64..4_000_000_000).prop_map(|second| jiff::Timestamp::from_second(second).unwrap());
    let transition = (state(), moment()).prop_map(|(state, at)| Transition { state, at });
    (
        (state(), option::of(any_message()), moment()),
        vec(any_message(), 0..3),
        vec(artifact(), 0..3),
        vec(transition, 0..4),
    )
        .prop_map(|((state, message, timestamp), history, artifacts, transitions)| Task {
            status: TaskStatus { state, message, timestamp },
            history,
            artifacts,
            transitions,
            ..bare_task(state)
        })
}

/// The part as OpenFang's dialect preserves it: the dialect has no part for a file at a URL.
fn kept_flat(part: &mut Part) {
    part.metadata.clear();
    let name = part.filename.take().unwrap_or_else(|| "file".into());
    let media_type = |given: Option<String>, otherwise: &str| Some(given.unwrap_or_else(|| otherwise.to_owned()));
    match &part.body {
        PartBody::Text(_) => part.media_type = None,
        PartBody::Data(_) => part.media_type = media_type(part.media_type.take(), "application/json"),
        PartBody::Raw(_) => {
            part.media_type = media_type(part.media_type.take(), "application/octet-stream");
            part.filename = Some(name);
        }
        PartBody::Url(uri) => {
            let mime_type = media_type(part.media_type.take(), "application/octet-stream");
            part.body = PartBody::Data(json!({"name": &*name, "mimeType": mime_type, "uri": uri}));
            part.media_type = Some("application/json".to_owned());
        }
    }
}

/// The message without the members a dialect cannot express.
pub(super) fn kept(dialect: Dialect, message: &Message) -> Message {
    let mut kept = message.clone();
    match dialect {
        Dialect::V10 => return kept,
        Dialect::V03Proto => kept.reference_task_ids.clear(),
        Dialect::V03 => {}
        Dialect::V01 | Dialect::OpenFang => {
            kept.reference_task_ids.clear();
            kept.extensions.clear();
        }
    }
    for part in &mut kept.parts {
        if dialect == Dialect::OpenFang {
            kept_flat(part);
            continue;
        }
        match part.body {
            PartBody::Text(_) | PartBody::Data(_) => (part.filename, part.media_type) = (None, None),
            PartBody::Raw(_) | PartBody::Url(_) => {}
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_task_is_written_as_a_valid_one(task in task()) {
        for dialect in Dialect::ALL {
            answers(task.clone()).iter().for_each(|answer| validate(dialect, answer));
            items(&task).iter().for_each(|item| validate_item(dialect, item));
        }
    }

    #[test]
    fn a_message_that_is_written_is_read_as_the_same(message in message(Just(Role::User))) {
        for dialect in [Dialect::V03, Dialect::V03Proto, Dialect::V10] {
            let reply = written(dialect, &Answer::Replied(Box::new(message.clone())));
            let bare = reply.get("message").cloned().unwrap_or(reply);
            let read = sending(dialect, Method::Send, &json!({"message": bare}));
            prop_assert_eq!(&read.message, &kept(dialect, &message), "{:?}", dialect);
        }
    }

    #[test]
    fn what_0_1_writes_it_reads(message in message(Just(Role::User))) {
        let history = Task { history: vec![message.clone()], ..bare_task(TaskState::Working) };
        let shown = written(Dialect::V01, &got(history));
        let read = sending(Dialect::V01, Method::Send, &json!({"message": shown["history"][0]}));
        let expected = kept(Dialect::V01, &message);
        prop_assert_eq!((&read.message.parts, &read.message.metadata), (&expected.parts, &expected.metadata));
    }

    #[test]
    fn what_openfangs_dialect_reads_it_writes_again(task in task()) {
        let text = written(Dialect::OpenFang, &got(task));
        let read: A2aTask = serde_json::from_value(text.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(read).unwrap(), text);
    }

    #[test]
    fn a_history_is_the_last_of_it(count in option::of(0_usize..5), task in task()) {
        let all = task.history.len();
        let shown = written(Dialect::V10, &Answer::Task(Box::new(held(task)), HistoryLength(count)));
        let seen = shown.get("history").map_or(0, |history| history.as_array().unwrap().len());
        prop_assert_eq!(seen, count.unwrap_or(all).min(all));
    }

    #[test]
    fn any_json_is_read_or_refused(document in value()) {
        for dialect in Dialect::ALL {
            for method in Method::ALL {
                let _ = decoded(dialect, method, &document);
                let _ = decoded(dialect, method, &json!({"message": document, "id": document, "name": document}));
                let _ = decoded(dialect, method, &json!({"params": {"message": {"parts": [document]}}}));
            }
        }
    }
}
