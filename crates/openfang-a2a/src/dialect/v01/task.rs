//! Writes tasks and their parts for 0.1.

use openfang_types::task::{Artifact, Message, Part, TaskState, TaskStatus};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::dialect::write::{
    CreatorName, Each, PartOut, StatusHistory, TimestampOut, VisibleTask, is_final, role, some_members,
};

type Messages<'a> = Each<'a, Message, (), MessageOut<'a>>;
type Parts<'a> = Each<'a, Part, (), PartOut<'a>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskOut<'a> {
    id: CreatorName<'a>,
    session_id: &'a str,
    status: StatusOut<'a>,
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    is_final: Option<bool>,
    #[serde(skip_serializing_if = "Artifacts::is_empty")]
    artifacts: Artifacts<'a>,
    #[serde(skip_serializing_if = "Each::is_empty")]
    history: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<StatusHistory<'a>>,
}

impl<'a> TaskOut<'a> {
    pub(super) fn new(view: VisibleTask<'a>) -> Self {
        Self {
            id: view.within.task,
            session_id: view.within.context,
            status: StatusOut::new(&view.task.status),
            is_final: None,
            artifacts: Artifacts(view.artifacts),
            history: Each::new(view.history, (), MessageOut::new),
            metadata: StatusHistory::new(&view.task.transitions, word),
        }
    }

    /// The task as a stream event.
    pub(super) fn in_stream(view: VisibleTask<'a>) -> Self {
        Self { is_final: Some(is_final(view.task.status.state)), ..Self::new(view) }
    }
}

/// An answer without a task, written as a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplyOut<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    status: StatusOut<'a>,
    #[serde(rename = "final")]
    is_final: bool,
}

impl<'a> ReplyOut<'a> {
    pub(super) fn new(message: &'a Message) -> Self {
        Self {
            id: message.message_id.as_str(),
            session_id: message.context_id.as_ref().map(|context| context.as_str()),
            status: StatusOut {
                state: word(TaskState::Completed),
                message: Some(MessageOut::new(message, ())),
                timestamp: None,
            },
            is_final: true,
        }
    }
}

#[derive(Serialize)]
pub(super) struct StatusOut<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<TimestampOut>,
}

impl<'a> StatusOut<'a> {
    pub(super) fn new(status: &'a TaskStatus) -> Self {
        Self {
            state: word(status.state),
            message: status.message.as_ref().map(|message| MessageOut::new(message, ())),
            timestamp: Some(TimestampOut(status.timestamp)),
        }
    }
}

/// 0.1 has no state for a rejection or for missing credentials: they become a failure and a request for input.
const fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Rejected => TaskState::Failed.as_str(),
        TaskState::AuthRequired => TaskState::InputRequired.as_str(),
        TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::Completed
        | TaskState::Failed
        | TaskState::Canceled => state.as_str(),
    }
}

#[derive(Serialize)]
pub(super) struct MessageOut<'a> {
    role: &'static str,
    parts: Parts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> MessageOut<'a> {
    pub(super) fn new(message: &'a Message, (): ()) -> Self {
        Self {
            role: role(message.role),
            parts: Each::new(&message.parts, (), PartOut::by_type),
            metadata: some_members(&message.metadata),
        }
    }
}

/// The artifacts of a task with their indexes.
struct Artifacts<'a>(&'a [Artifact]);

impl Artifacts<'_> {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Artifacts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().zip(0..).map(|(artifact, index)| ArtifactOut::new(artifact, index)))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Parts<'a>,
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_chunk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> ArtifactOut<'a> {
    pub(super) fn new(artifact: &'a Artifact, index: usize) -> Self {
        Self {
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: Each::new(&artifact.parts, (), PartOut::by_type),
            index,
            append: None,
            last_chunk: None,
            metadata: some_members(&artifact.metadata),
        }
    }

    pub(super) fn chunk(self, append: bool, last_chunk: bool) -> Self {
        Self { append: Some(append), last_chunk: Some(last_chunk), ..self }
    }
}
