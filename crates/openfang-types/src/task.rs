//! Tasks as A2A 1.0 means them: messages, parts, artifacts, and the one rule which state may follow which.
//!
//! This is the internal model. Older or other spellings of it are codecs at the edge. A task is the fold of its
//! events: [`Task::apply`] and [`Task::take`] are the only way one changes.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::EventBody;
use crate::ids::{AgentName, ArtifactId, ContextId, MessageId, TaskId};

pub use activity::{CallNote, CallNoteOutcome, TurnUsage, shortened_arguments};
pub use file_name::FileName;
pub use origin::Origin;

pub use part::{Part, PartBody};
pub use parts::TaskParts;

mod activity;
mod file_name;
mod origin;
mod part;
mod parts;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    Submitted,
    Working,
    /// Waits for a message of its owner.
    InputRequired,
    /// Waits for a credential of its owner.
    AuthRequired,
    Completed,
    /// Ended by an error.
    Failed,
    /// Ended by its owner.
    Canceled,
    /// Refused by the agent.
    Rejected,
}

impl TaskState {
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Rejected,
    ];

    /// Whether the task has ended for good.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => true,
            Self::Submitted | Self::Working | Self::InputRequired | Self::AuthRequired => false,
        }
    }

    /// Whether the task waits for its owner.
    pub const fn is_interrupted(self) -> bool {
        match self {
            Self::InputRequired | Self::AuthRequired => true,
            Self::Submitted | Self::Working | Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => false,
        }
    }

    /// The rule: nothing follows a terminal state, and nothing becomes submitted again.
    pub fn can_become(self, next: Self) -> bool {
        !self.is_terminal() && next != Self::Submitted
    }

    /// The word used in JSON and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input-required",
            Self::AuthRequired => "auth-required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A piece of work that an agent does for its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: TaskId,
    /// The conversation it belongs to.
    pub context_id: ContextId,
    /// Who works on it.
    pub agent: AgentName,
    pub status: TaskStatus,
    /// The messages of both sides, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The states it has been in, oldest first, with the one it is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transitions: Vec<Transition>,
}

impl Task {
    /// Takes everything back that happened to it.
    pub fn begin_again(&mut self, submitted_at: Timestamp) {
        self.status = TaskStatus { state: TaskState::Submitted, message: None, timestamp: submitted_at };
        self.history.clear();
        self.artifacts.clear();
        self.transitions.clear();
    }

    /// Folds one event into the task.
    pub fn apply(&mut self, event: &EventBody) {
        self.take(event.clone());
    }

    /// The same with an event that nobody else needs.
    pub fn take(&mut self, event: EventBody) {
        match event {
            EventBody::Message(message) => {
                self.history.extend(self.status.message.take());
                self.history.push(message);
            }
            EventBody::Status(status) => {
                // What the agent said before is part of the conversation from now on.
                self.history.extend(self.status.message.take());
                if self.transitions.last().is_none_or(|last| last.state != status.state) {
                    self.transitions.push(Transition { state: status.state, at: status.timestamp });
                }
                self.status = status;
            }
            EventBody::Artifact(update) => {
                let known = self.artifacts.iter_mut().find(|held| held.artifact_id == update.artifact.artifact_id);
                match known {
                    Some(held) if update.append => held.parts.extend(update.artifact.parts),
                    Some(held) => *held = update.artifact,
                    None => self.artifacts.push(update.artifact),
                }
            }
        }
    }
}

/// A change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transition {
    pub state: TaskState,
    pub at: Timestamp,
}

/// A state, since when, and what the agent says about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    pub state: TaskState,
    /// What the agent says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    pub timestamp: Timestamp,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Agent,
}

/// The member of a message's metadata that chooses a model.
const MODEL: &str = "openfang/model";

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// As its sender named it.
    pub message_id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
    /// The conversation, if the sender named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// The task it continues, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Free data of the sender.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The extensions it makes use of, by URI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Tasks it refers to, as its sender names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl Message {
    /// A message of one text.
    pub fn text(message_id: MessageId, role: Role, text: impl Into<String>) -> Self {
        Self::of_parts(message_id, role, vec![Part::text(text)])
    }

    /// A message of parts, and nothing else.
    pub fn of_parts(message_id: MessageId, role: Role, parts: Vec<Part>) -> Self {
        Self {
            message_id,
            role,
            parts,
            context_id: None,
            task_id: None,
            metadata: Map::new(),
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// The same, answered by another model than the agent's: `provider/model`. Only the operator may ask for that.
    #[must_use]
    pub fn with_model(mut self, model: String) -> Self {
        self.metadata.insert(MODEL.to_owned(), Value::from(model));
        self
    }

    /// The model that the sender chose.
    pub fn chosen_model(&self) -> Option<&str> {
        self.metadata.get(MODEL)?.as_str()
    }

    /// All text parts, joined by newlines.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        self.parts.iter().map(Part::size).sum()
    }
}

/// A result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within the task.
    pub artifact_id: ArtifactId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    /// Free data of its maker.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The extensions it makes use of, by URI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl Artifact {
    /// The name of an artifact with what an agent said on the way to its answer.
    pub const COMMENTARY: &str = "commentary";

    /// Whether it was said on the way, and is no part of the answer.
    pub fn is_commentary(&self) -> bool {
        self.name.as_deref() == Some(Self::COMMENTARY) && self.artifact_id.as_str().starts_with("commentary-")
    }

    /// An artifact of parts, and nothing else.
    pub fn of_parts(artifact_id: ArtifactId, name: Option<String>, parts: Vec<Part>) -> Self {
        Self { artifact_id, name, description: None, parts, metadata: Map::new(), extensions: Vec::new() }
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
