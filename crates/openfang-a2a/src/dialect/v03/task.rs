//! Writes tasks and their parts for 0.2 and 0.3.

use openfang_types::task::{Artifact, Message, Part, TaskState, TaskStatus};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::dialect::write::{
    CreatorName, Each, PartOut, StatusHistory, TaskScope, TimestampOut, VisibleTask, role, some, some_members,
};

type Messages<'a> = Each<'a, Message, Option<TaskScope<'a>>, MessageOut<'a>>;
type Parts<'a> = Each<'a, Part, (), PartOut<'a>>;
type Artifacts<'a> = Each<'a, Artifact, (), ArtifactOut<'a>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskOut<'a> {
    kind: &'static str,
    id: CreatorName<'a>,
    context_id: &'a str,
    status: StatusOut<'a>,
    #[serde(skip_serializing_if = "Each::is_empty")]
    artifacts: Artifacts<'a>,
    #[serde(skip_serializing_if = "Each::is_empty")]
    history: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<StatusHistory<'a>>,
}

impl<'a> TaskOut<'a> {
    pub(super) fn new(view: VisibleTask<'a>) -> Self {
        Self {
            kind: "task",
            id: view.within.task,
            context_id: view.within.context,
            status: StatusOut::new(&view.task.status, view.within),
            artifacts: Each::new(view.artifacts, (), ArtifactOut::new),
            history: Each::new(view.history, Some(view.within), MessageOut::new),
            metadata: StatusHistory::new(&view.task.transitions, TaskState::as_str),
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
            state: status.state.as_str(),
            message: status.message.as_ref().map(|message| MessageOut::new(message, Some(within))),
            timestamp: TimestampOut(status.timestamp),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageOut<'a> {
    kind: &'static str,
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
            kind: "message",
            message_id: message.message_id.as_str(),
            context_id: within.map(|within| within.context).or(own),
            task_id: within.map(|within| within.task),
            role: role(message.role),
            parts: Each::new(&message.parts, (), PartOut::by_kind),
            metadata: some_members(&message.metadata),
            extensions: some(&message.extensions),
            reference_task_ids: some(&message.reference_task_ids),
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
            parts: Each::new(&artifact.parts, (), PartOut::by_kind),
            metadata: some_members(&artifact.metadata),
            extensions: some(&artifact.extensions),
        }
    }
}
