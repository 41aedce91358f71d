//! A peer's answers, independent of the dialect. A peer names its own tasks. Only the members the client depends on are
//! checked; the rest is kept as received.

use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::task::{Artifact, Message, TaskStatus};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::operation::PushNotificationConfig;

pub use cursor::cursor;
pub use error::{AnswerError, PeerError, PeerFault};
pub use follow::{FollowedTask, TaskChange, WrongTask};

mod cursor;
mod error;
mod follow;

/// A task that a peer runs for us.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerTask {
    /// The peer's id of the task.
    pub id: TaskName,
    /// The peer's id of the conversation.
    pub context_id: Option<ContextId>,
    /// The current status. The peer's status is authoritative: a blocking call may return before the task has ended.
    pub status: TaskStatus,
    /// The messages of both sides, oldest first.
    pub history: Vec<Message>,
    /// The results of the task.
    pub artifacts: Vec<Artifact>,
    /// Metadata set by the peer.
    pub metadata: Map<String, Value>,
}

impl PeerTask {
    /// Whether the task has ended or waits for input.
    pub const fn is_settled(&self) -> bool {
        self.status.state.is_terminal() || self.status.state.is_interrupted()
    }
}

/// A message from a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerMessage {
    /// The task it belongs to, if the peer names one.
    pub task: Option<TaskName>,
    /// The message; [`Message::task_id`] is not set.
    pub message: Message,
}

/// A change of the status of a peer's task.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerStatus {
    /// The task, if the peer names one.
    pub task: Option<TaskName>,
    /// The conversation, if the peer names one.
    pub context_id: Option<ContextId>,
    pub status: TaskStatus,
    /// Whether the peer marks this as the last event of the stream. 1.0 has no such member.
    pub is_final: bool,
    /// Metadata set by the peer.
    pub metadata: Map<String, Value>,
}

/// An artifact of a peer's task, or another chunk of one.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerArtifact {
    /// The task, if the peer names one.
    pub task: Option<TaskName>,
    /// The conversation, if the peer names one.
    pub context_id: Option<ContextId>,
    /// The artifact or the chunk.
    pub update: ArtifactUpdate,
}

/// One event of a peer's stream.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerEvent {
    /// The task in its current state.
    Task(Box<PeerTask>),
    Message(Box<PeerMessage>),
    Status(Box<PeerStatus>),
    /// A new artifact, or a further chunk.
    Artifact(Box<PeerArtifact>),
}

/// A peer's answer to a request.
#[derive(Debug, Clone)]
pub enum PeerAnswer {
    Task(Box<PeerTask>),
    /// A message without a task.
    Message(Box<PeerMessage>),
    /// A page of tasks.
    Tasks(PeerPage),
    Push(Box<PeerPush>),
    /// The push configurations of a task.
    Pushes(Vec<PeerPush>),
    /// A push configuration was deleted.
    Deleted,
    /// A card as received.
    Card(Box<RawValue>),
}

/// One page of a peer's tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerPage {
    /// The tasks, in the peer's order.
    pub tasks: Vec<PeerTask>,
    /// The token of the next page, if there is one.
    pub next_page_token: Option<String>,
    /// The page size, if the peer states it.
    pub page_size: Option<usize>,
    /// The number of tasks on all pages, if the peer states it.
    pub total: Option<usize>,
}

/// A push configuration as the peer stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerPush {
    /// The task it belongs to, if the peer states it.
    pub task: Option<TaskName>,
    /// The URL and the credentials.
    pub config: PushNotificationConfig,
}
