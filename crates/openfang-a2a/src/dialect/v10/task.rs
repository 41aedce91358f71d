//! Writes tasks and their parts for 1.0.

use openfang_types::task::{Artifact, Message, Part, PartBody, Role, TaskState, TaskStatus};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::dialect::write::{Base64, CreatorName, Each, TaskScope, TimestampOut, VisibleTask, some, some_members};

type Messages<'a> = Each<'a, Message, Option<TaskScope<'a>>, MessageOut<'a>>;
type Parts<'a> = Each<'a, Part, (), PartOut<'a>>;
type Artifacts<'a> = Each<'a, Artifact, (), ArtifactOut<'a>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskOut<'a> {
    id: CreatorName<'a>,
    context_id: &'a str,
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "Each::is_empty")]
    artifacts: Artifacts<'a>,
    #[serde(skip_serializing_if = "Each::is_empty")]
    history: Messages<'a>,
}

impl<'a> TaskOut<'a> {
    pub(super) fn new(view: VisibleTask<'a>) -> Self {
        Self {
            id: view.within.task,
            context_id: view.within.context,
            status: StatusOut::new(&view.task.status, view.within),
            artifacts: Each::new(view.artifacts, (), ArtifactOut::new),
            history: Each::new(view.history, Some(view.within), MessageOut::new),
        }
    }
}

#[derive(Serialize)]
pub(super) struct StatusOut<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageOut<'a>>,
    timestamp: TimestampOut,
}

impl<'a> StatusOut<'a> {
    pub(super) fn new(status: &'a TaskStatus, within: TaskScope<'a>) -> Self {
        Self {
            state: state(status.state),
            message: status.message.as_ref().map(|message| MessageOut::new(message, Some(within))),
            timestamp: TimestampOut(status.timestamp),
        }
    }
}

pub(super) const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "TASK_STATE_SUBMITTED",
        TaskState::Working => "TASK_STATE_WORKING",
        TaskState::InputRequired => "TASK_STATE_INPUT_REQUIRED",
        TaskState::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        TaskState::Completed => "TASK_STATE_COMPLETED",
        TaskState::Failed => "TASK_STATE_FAILED",
        TaskState::Canceled => "TASK_STATE_CANCELED",
        TaskState::Rejected => "TASK_STATE_REJECTED",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageOut<'a> {
    message_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<CreatorName<'a>>,
    role: &'static str,
    parts: Parts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_task_ids: Option<&'a [String]>,
}

impl<'a> MessageOut<'a> {
    /// A message to an agent, with the task it continues.
    pub(super) fn sent(message: &'a Message, task: Option<&'a str>) -> Self {
        Self { task_id: task.map(CreatorName::Given), ..Self::new(message, None) }
    }

    /// A message of a task, or one without a task.
    pub(super) fn new(message: &'a Message, within: Option<TaskScope<'a>>) -> Self {
        let own = message.context_id.as_ref().map(|context| context.as_str());
        Self {
            message_id: message.message_id.as_str(),
            context_id: within.map(|within| within.context).or(own),
            task_id: within.map(|within| within.task),
            role: match message.role {
                Role::User => "ROLE_USER",
                Role::Agent => "ROLE_AGENT",
            },
            parts: Each::new(&message.parts, (), PartOut::new),
            metadata: some_members(&message.metadata),
            extensions: some(&message.extensions),
            reference_task_ids: some(&message.reference_task_ids),
        }
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct PartOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Base64<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
}

impl<'a> PartOut<'a> {
    fn new(part: &'a Part, (): ()) -> Self {
        let rest = Self {
            metadata: some_members(&part.metadata),
            filename: part.filename.as_deref(),
            media_type: part.media_type.as_deref(),
            ..Self::default()
        };
        match &part.body {
            PartBody::Text(text) => Self { text: Some(text), ..rest },
            PartBody::Raw(bytes) => Self { raw: Some(Base64(bytes)), ..rest },
            PartBody::Url(url) => Self { url: Some(url), ..rest },
            PartBody::Data(value) => Self { data: Some(value), ..rest },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactOut<'a> {
    artifact_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Parts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<&'a [String]>,
}

impl<'a> ArtifactOut<'a> {
    pub(super) fn new(artifact: &'a Artifact, (): ()) -> Self {
        Self {
            artifact_id: artifact.artifact_id.as_str(),
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: Each::new(&artifact.parts, (), PartOut::new),
            metadata: some_members(&artifact.metadata),
            extensions: some(&artifact.extensions),
        }
    }
}
