//! Things of the model that the dialects' tests write and read.

use jiff::Timestamp;
use openfang_types::event::{ArtifactUpdate, EventBody, StreamItem, TaskEvent};
use openfang_types::secret::Secret;
use openfang_types::task::{Artifact, Message, Origin, Part, PartBody, Role, Task, TaskState, TaskStatus, Transition};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::{Dialect, In};
use crate::answer::{Answer, Held, Push, Shown, StreamHead};
use crate::error::A2aError;
use crate::operation::{History, Method, NewPush, PushAuthentication, Request, Sending};

pub(super) const TASK: &str = "0192d3a0-0000-7000-8000-000000000001";

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn message(id: &str, role: Role, parts: Vec<Part>) -> Message {
    Message::of_parts(id.parse().unwrap(), role, parts)
}

/// A task with something of everything.
pub(super) fn rich_task(state: TaskState) -> Task {
    let metadata = |key: &str| Map::from_iter([(key.to_owned(), json!({"deep": [1, null, "x"]}))]);
    let parts = vec![
        Part { metadata: metadata("part"), ..Part::text("hello") },
        Part::file(vec![0, 255, 16], Some("a.bin".into()), Some("application/octet-stream".into())),
        Part {
            filename: Some("b.png".into()),
            media_type: Some("image/png".into()),
            ..Part::new(PartBody::Url("https://example.com/b.png".into()))
        },
        Part::data(json!({"tool": "add_numbers"})),
        Part::data(json!([1, 2])),
        Part::data(Value::Null),
    ];
    let mut asked = message("m-1", Role::User, parts.clone());
    asked.metadata = metadata("message");
    asked.extensions = vec!["urn:x".into()];
    asked.reference_task_ids = vec!["other".into()];
    let artifact = Artifact {
        description: Some("what came of it".into()),
        metadata: metadata("artifact"),
        extensions: vec!["urn:y".into()],
        ..Artifact::of_parts("a-1".parse().unwrap(), Some("add_numbers-result".into()), parts)
    };
    let bare = Artifact::of_parts("a-2".parse().unwrap(), None, vec![Part::text("10")]);
    Task {
        id: TASK.parse().unwrap(),
        context_id: "c-1".parse().unwrap(),
        agent: "starter".parse().unwrap(),
        status: TaskStatus {
            state,
            message: Some(message("m-3", Role::Agent, vec![Part::text("so it is")])),
            timestamp: at("2026-03-02T12:00:01.5Z"),
        },
        history: vec![asked, message("m-2", Role::Agent, vec![Part::text("on it")])],
        artifacts: vec![artifact, bare],
        transitions: vec![
            Transition { state: TaskState::Submitted, at: at("2026-03-02T12:00:00Z") },
            Transition { state, at: at("2026-03-02T12:00:01.5Z") },
        ],
    }
}

/// A task with nothing that can be left out.
pub(super) fn bare_task(state: TaskState) -> Task {
    let status = TaskStatus { state, message: None, timestamp: at("2026-03-02T12:00:00Z") };
    Task { status, history: vec![], artifacts: vec![], transitions: vec![], ..rich_task(state) }
}

pub(super) fn held(task: Task) -> Held {
    Held { task, origin: Origin::V10, peer_name: None }
}

pub(super) fn sent(task: Task) -> Answer {
    Answer::Sent(Box::new(held(task)), History::default())
}

pub(super) fn got(task: Task) -> Answer {
    Answer::Task(Box::new(held(task)), History::default())
}

pub(super) fn push() -> Push {
    Push {
        id: "p-1".into(),
        task: TASK.into(),
        config: NewPush {
            id: Some("p-1".into()),
            url: "https://example.com/hook".into(),
            token: Some(Secret::new("t0ken".into())),
            authentication: Some(PushAuthentication {
                scheme: "Bearer".into(),
                credentials: Some(Secret::new("cr3d".into())),
            }),
        },
    }
}

pub(super) fn head() -> StreamHead {
    StreamHead { task: TASK.into(), context: "c-1".into(), history: History::default() }
}

pub(super) fn event(body: EventBody) -> StreamItem {
    let task_id = TASK.parse().unwrap();
    StreamItem::Event(Box::new(TaskEvent { task_id, seq: 4, at: at("2026-03-02T12:00:02Z"), body }))
}

pub(super) fn status_event(state: TaskState) -> StreamItem {
    event(EventBody::Status(rich_task(state).status))
}

pub(super) fn artifact_event(append: bool, last_chunk: bool) -> StreamItem {
    let artifact = rich_task(TaskState::Working).artifacts.swap_remove(0);
    event(EventBody::Artifact(ArtifactUpdate { artifact, append, last_chunk }))
}

pub(super) fn written(dialect: Dialect, answer: &Answer) -> Value {
    serde_json::to_value(In(dialect, answer)).unwrap()
}

pub(super) fn streamed(dialect: Dialect, item: &StreamItem) -> Value {
    serde_json::to_value(In(dialect, &Shown::Item(&head(), item))).unwrap()
}

pub(super) fn raw(params: &Value) -> Box<RawValue> {
    to_raw_value(params).unwrap()
}

pub(super) fn decoded(dialect: Dialect, method: Method, params: &Value) -> Result<Request, A2aError> {
    dialect.decode(method, Some(&raw(params)))
}

/// Reads a message in.
pub(super) fn sending(dialect: Dialect, method: Method, params: &Value) -> Sending {
    match decoded(dialect, method, params)
        .unwrap_or_else(|error| panic!("{params}: {error}"))
        .operation
    {
        crate::operation::Operation::Send(sending) => *sending,
        other => panic!("{other:?}"),
    }
}

/// The member that is refused, and why.
pub(super) fn refusal(dialect: Dialect, method: Method, params: &Value) -> (String, String) {
    match decoded(dialect, method, params) {
        Err(A2aError::InvalidParams { field, why }) => (field, why),
        other => panic!("{dialect:?} {method}: {params} gave {other:?}"),
    }
}
