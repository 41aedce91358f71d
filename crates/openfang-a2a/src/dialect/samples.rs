//! Sample values that the tests of the dialects write and read.

use jiff::Timestamp;
use openfang_types::event::{ArtifactUpdate, EventBody, StreamItem, TaskEvent};
use openfang_types::secret::Secret;
use openfang_types::task::{Artifact, Message, Origin, Part, PartBody, Role, Task, TaskState, TaskStatus, Transition};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::{Dialect, InDialect};
use crate::answer::{Answer, ListTasksResponse, NamedTask, StreamEvent, StreamHead, TaskPushConfig};
use crate::error::A2aError;
use crate::operation::{HistoryLength, Method, PushAuthentication, PushNotificationConfig, Request, SendMessage};

pub(super) mod proto;
pub(super) mod schemas;

pub(super) const TASK: &str = "0192d3a0-0000-7000-8000-000000000001";

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn message(id: &str, role: Role, parts: Vec<Part>) -> Message {
    Message::of_parts(id.parse().unwrap(), role, parts)
}

/// A task that uses every feature.
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

/// A task with only the required members.
pub(super) fn bare_task(state: TaskState) -> Task {
    let status = TaskStatus { state, message: None, timestamp: at("2026-03-02T12:00:00Z") };
    Task { status, history: vec![], artifacts: vec![], transitions: vec![], ..rich_task(state) }
}

pub(super) fn held(task: Task) -> NamedTask {
    NamedTask { task, origin: Origin::V10, peer_name: None }
}

pub(super) fn sent(task: Task) -> Answer {
    Answer::Sent(Box::new(held(task)), HistoryLength::default())
}

pub(super) fn got(task: Task) -> Answer {
    Answer::Task(Box::new(held(task)), HistoryLength::default())
}

pub(super) fn push() -> TaskPushConfig {
    TaskPushConfig {
        id: "p-1".into(),
        task: TASK.into(),
        config: PushNotificationConfig {
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
    StreamHead { task: TASK.into(), context: "c-1".into(), history: HistoryLength::default(), artifacts: Vec::new() }
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
    serde_json::to_value(InDialect(dialect, answer)).unwrap()
}

pub(super) fn streamed(dialect: Dialect, item: &StreamItem) -> Value {
    serde_json::to_value(InDialect(dialect, &StreamEvent::Item(&head(), item))).unwrap()
}

pub(super) fn raw(params: &Value) -> Box<RawValue> {
    to_raw_value(params).unwrap()
}

pub(super) fn decoded(dialect: Dialect, method: Method, params: &Value) -> Result<Request, A2aError> {
    dialect.decode(method, Some(&raw(params)))
}

/// Reads a message in.
pub(super) fn sending(dialect: Dialect, method: Method, params: &Value) -> SendMessage {
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

/// Every answer there is, of one task.
pub(super) fn answers(task: Task) -> Vec<Answer> {
    let page = ListTasksResponse {
        tasks: vec![held(task.clone())],
        next_page_token: "next".into(),
        page_size: 50,
        total: 1,
        history: HistoryLength::default(),
        include_artifacts: true,
    };
    let mut reply = message("m-9", Role::Agent, vec![Part::text("hi")]);
    reply.context_id = Some("c-1".parse().unwrap());
    vec![
        sent(task.clone()),
        got(task),
        Answer::Replied(Box::new(reply)),
        Answer::Tasks(page),
        Answer::Push(Box::new(push())),
        Answer::Pushes(vec![push()]),
        Answer::Gone,
    ]
}

/// Every item that a stream of one task can show.
pub(super) fn items(task: &Task) -> Vec<StreamItem> {
    vec![
        StreamItem::Snapshot(Box::new(task.clone()), 3),
        event(EventBody::Status(task.status.clone())),
        artifact_event(false, false),
        artifact_event(true, true),
        event(EventBody::Message(message("m-7", Role::User, vec![Part::text("more")]))),
        StreamItem::Shutdown,
    ]
}

fn message_in(dialect: Dialect) -> Value {
    let text = |kind: &str| match kind {
        "" => json!({"text": "hi", "metadata": {"k": 1}}),
        kind => json!({kind: "text", "text": "hi", "metadata": {"k": 1}}),
    };
    match dialect {
        Dialect::OpenFang | Dialect::V01 => json!({"role": "user", "parts": [text("type")], "metadata": {"m": 1}}),
        Dialect::V03 => json!({"kind": "message", "messageId": "m", "contextId": "c", "taskId": "t", "role": "user",
            "parts": [text("kind")], "metadata": {"m": 1}, "extensions": ["urn:x"], "referenceTaskIds": ["r"]}),
        Dialect::V03Proto => json!({"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
            "content": [text("")], "metadata": {"m": 1}, "extensions": ["urn:x"]}),
        Dialect::V10 => json!({"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
            "parts": [text("")], "metadata": {"m": 1}, "extensions": ["urn:x"], "referenceTaskIds": ["r"]}),
    }
}

fn push_in(dialect: Dialect) -> Value {
    match dialect {
        Dialect::OpenFang | Dialect::V01 | Dialect::V03 | Dialect::V03Proto => json!({"id": "p", "url": "https://e/",
            "token": "t", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}),
        Dialect::V10 => json!({"id": "p", "url": "https://e/", "token": "t", "taskId": "t",
            "authentication": {"scheme": "Bearer", "credentials": "c"}}),
    }
}

/// Parameters with everything they may have, in a dialect's own spelling.
pub(super) fn valid(dialect: Dialect, method: Method) -> Value {
    let modern = dialect == Dialect::V10;
    match method {
        Method::Send | Method::Stream => {
            let (message, push) = (message_in(dialect), push_in(dialect));
            match dialect {
                Dialect::OpenFang | Dialect::V01 => json!({"id": "t", "sessionId": "s", "message": message,
                    "acceptedOutputModes": ["text"], "historyLength": 3, "pushNotification": push, "metadata": {"k": 1}}),
                Dialect::V03 | Dialect::V03Proto => {
                    let name = if dialect == Dialect::V03 { "pushNotificationConfig" } else { "pushNotification" };
                    json!({"message": message, "metadata": {"k": 1}, "configuration":
                        {"acceptedOutputModes": ["text"], "historyLength": 3, "blocking": true, name: push}})
                }
                Dialect::V10 => json!({"message": message, "metadata": {"k": 1}, "tenant": "a", "configuration":
                    {"acceptedOutputModes": ["text"], "historyLength": 3, "returnImmediately": true,
                    "taskPushNotificationConfig": push}}),
            }
        }
        Method::Get if dialect == Dialect::V03Proto => json!({"name": "tasks/t", "historyLength": 3}),
        Method::Get => json!({"id": "t", "historyLength": 3}),
        Method::List => json!({"contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 10, "pageToken": "x",
            "historyLength": 3, "statusTimestampAfter": "2026-03-02T12:00:00Z", "includeArtifacts": true}),
        Method::Cancel | Method::Subscribe if dialect == Dialect::V03Proto => json!({"name": "tasks/t"}),
        Method::Cancel | Method::Subscribe => json!({"id": "t"}),
        Method::SetPush => match dialect {
            Dialect::OpenFang | Dialect::V01 => json!({"id": "t", "pushNotificationConfig": push_in(dialect)}),
            Dialect::V03 => json!({"taskId": "t", "pushNotificationConfig": push_in(dialect)}),
            Dialect::V03Proto => json!({"parent": "tasks/t", "configId": "p", "config":
                {"name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": push_in(dialect)}}),
            Dialect::V10 => push_in(dialect),
        },
        Method::GetPush | Method::DeletePush if modern => json!({"taskId": "t", "id": "p"}),
        Method::GetPush | Method::DeletePush if dialect == Dialect::V03Proto => {
            json!({"name": "tasks/t/pushNotificationConfigs/p"})
        }
        Method::GetPush if dialect == Dialect::V01 => json!({"id": "t"}),
        Method::GetPush | Method::DeletePush => json!({"id": "t", "pushNotificationConfigId": "p"}),
        Method::ListPush if modern => json!({"taskId": "t"}),
        Method::ListPush if dialect == Dialect::V03Proto => json!({"parent": "tasks/t"}),
        Method::ListPush => json!({"id": "t"}),
        Method::ExtendedCard => json!({}),
    }
}
