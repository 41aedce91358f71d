//! Tasks in OpenFang's own dialect. [`A2aTaskStore`](crate::task_store::A2aTaskStore) stores the same type.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_types::task::{Artifact, Message, Part, PartBody, Role, TaskState};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::dialect::read::{OpenFangPart, PartIn as _, Word};
use crate::dialect::write::{CreatorName, VisibleTask, role};
use crate::peer::PeerTask;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aTask {
    /// The id of the task.
    pub id: String,
    /// The conversation it belongs to.
    #[serde(default, alias = "session_id", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub status: A2aTaskStatus,
    /// The messages of both sides.
    #[serde(default, alias = "history", deserialize_with = "or_default")]
    pub messages: Vec<A2aMessage>,
    /// The results of the task.
    #[serde(default, deserialize_with = "or_default")]
    pub artifacts: Vec<A2aArtifact>,
}

/// The state of a task. Any spelling is read, flat or as `{state}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum A2aTaskStatus {
    Submitted,
    Working,
    /// Waits for its caller.
    InputRequired,
    Completed,
    /// Canceled by its caller.
    Cancelled,
    /// Ended with an error.
    Failed,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aMessage {
    pub role: String,
    pub parts: Vec<A2aPart>,
}

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum A2aPart {
    Text {
        text: String,
    },
    File {
        name: String,
        mime_type: String,
        /// Its bytes, as base64.
        data: String,
    },
    Data {
        mime_type: String,
        data: Value,
    },
}

/// A result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aArtifact {
    /// The name shown to people. Never empty.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    pub parts: Vec<A2aPart>,
}

impl A2aTaskStatus {
    /// Whether the state is final.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Cancelled | Self::Failed => true,
            Self::Submitted | Self::Working | Self::InputRequired => false,
        }
    }
}

impl From<TaskState> for A2aTaskStatus {
    /// The dialect has no state for a rejection or for missing credentials: they become a failure and a request for
    /// input.
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Submitted => Self::Submitted,
            TaskState::Working => Self::Working,
            TaskState::InputRequired | TaskState::AuthRequired => Self::InputRequired,
            TaskState::Completed => Self::Completed,
            TaskState::Canceled => Self::Cancelled,
            TaskState::Failed | TaskState::Rejected => Self::Failed,
        }
    }
}

impl A2aTask {
    /// Converts a task. The agent's message about its state becomes the last message. If a completed task has no such
    /// message, the texts of its artifacts become one, because clients of this dialect read the answer there.
    pub(super) fn of(view: VisibleTask<'_>) -> Self {
        let said = view.history.iter().chain(&view.task.status.message).map(A2aMessage::from);
        let mut messages: Vec<A2aMessage> = said.collect();
        messages.extend(answer_of(&view));
        Self {
            id: match view.within.task {
                CreatorName::Given(name) => name.to_owned(),
                CreatorName::Ours(id) => id.to_string(),
            },
            session_id: Some(view.within.context.to_owned()),
            status: view.task.status.state.into(),
            messages,
            artifacts: view.artifacts.iter().map(A2aArtifact::from).collect(),
        }
    }

    /// Converts the task of a peer. The peer's message about its state becomes the last message.
    pub(crate) fn of_peer(task: &PeerTask) -> Self {
        Self {
            id: task.id.to_string(),
            session_id: task.context_id.as_ref().map(ToString::to_string),
            status: task.status.state.into(),
            messages: task.history.iter().chain(&task.status.message).map(A2aMessage::from).collect(),
            artifacts: task.artifacts.iter().map(A2aArtifact::from).collect(),
        }
    }

    /// An answer without a task, written as a task.
    pub(crate) fn of_reply(message: &Message) -> Self {
        Self {
            id: message.message_id.to_string(),
            session_id: message.context_id.as_ref().map(ToString::to_string),
            status: A2aTaskStatus::Completed,
            messages: vec![message.into()],
            artifacts: Vec::new(),
        }
    }
}

/// The texts of a completed task as a message of the agent.
fn answer_of(view: &VisibleTask<'_>) -> Option<A2aMessage> {
    let is_done = view.task.status.state == TaskState::Completed && view.task.status.message.is_none();
    let texts = view
        .artifacts
        .iter()
        .flat_map(|artifact| &artifact.parts)
        .filter(|part| part.as_text().is_some());
    let parts: Vec<A2aPart> = texts.filter(|_| is_done).map(A2aPart::from).collect();
    (!parts.is_empty()).then(|| A2aMessage { role: role(Role::Agent).to_owned(), parts })
}

impl From<&Message> for A2aMessage {
    fn from(message: &Message) -> Self {
        Self { role: role(message.role).to_owned(), parts: message.parts.iter().map(A2aPart::from).collect() }
    }
}

impl From<&Artifact> for A2aArtifact {
    fn from(artifact: &Artifact) -> Self {
        let name = artifact.name.clone().unwrap_or_else(|| artifact.artifact_id.to_string());
        Self { name, parts: artifact.parts.iter().map(A2aPart::from).collect() }
    }
}

impl From<&Part> for A2aPart {
    fn from(part: &Part) -> Self {
        let mime_type = |otherwise: &str| part.media_type.clone().unwrap_or_else(|| otherwise.to_owned());
        let name = || part.filename.as_deref().unwrap_or("file").to_owned();
        match &part.body {
            PartBody::Text(text) => Self::Text { text: text.clone() },
            PartBody::Raw(bytes) => Self::File {
                name: name(),
                mime_type: mime_type("application/octet-stream"),
                data: STANDARD.encode(bytes),
            },
            // The dialect has no part for a file at a URL.
            PartBody::Url(uri) => Self::Data {
                mime_type: "application/json".to_owned(),
                data: json!({"name": name(), "mimeType": mime_type("application/octet-stream"), "uri": uri}),
            },
            PartBody::Data(value) => Self::Data { mime_type: mime_type("application/json"), data: value.clone() },
        }
    }
}

impl<'de> Deserialize<'de> for A2aPart {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let part = OpenFangPart::deserialize(from)?.read().map_err(D::Error::custom)?;
        Ok(Self::from(&part))
    }
}

fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(from).map(Option::unwrap_or_default)
}

impl<'de> Deserialize<'de> for A2aTaskStatus {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(StatusVisitor)
    }
}

struct StatusVisitor;

impl<'de> Visitor<'de> for StatusVisitor {
    type Value = A2aTaskStatus;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state, or an object with one")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<A2aTaskStatus, E> {
        let state = Word::Text(text.to_owned()).state().flatten();
        state.map(Into::into).ok_or_else(|| E::custom("unknown task state"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<A2aTaskStatus, A::Error> {
        let mut state = None;
        while let Some(key) = members.next_key::<String>()? {
            if key == "state" {
                state = Some(members.next_value::<Word>()?);
            } else {
                members.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        let state = state.and_then(|word| word.state().flatten());
        state.map(Into::into).ok_or_else(|| A::Error::custom("the status has no known state"))
    }
}
