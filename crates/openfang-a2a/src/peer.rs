//! What a peer answers, whichever dialect it answers in. A peer's tasks have names of its own; only what the client
//! needs to go on is judged, the rest is kept as it came.

use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::task::{Artifact, Message, TaskStatus};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::operation::NewPush;

pub use cursor::cursor;
pub use error::{AnswerError, Fault, PeerError};
pub use follow::{Followed, Stray};

mod cursor;
mod error;
mod follow;

/// A task of a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerTask {
    /// As the peer calls it.
    pub id: TaskName,
    /// The conversation, as the peer calls it.
    pub context_id: Option<ContextId>,
    /// Where it stands. What the peer says is believed, whatever was asked for: a blocking call may come back at once.
    pub status: TaskStatus,
    /// The messages of both sides, oldest first.
    pub history: Vec<Message>,
    /// What came of it.
    pub artifacts: Vec<Artifact>,
    /// Free data of the peer.
    pub metadata: Map<String, Value>,
}

impl PeerTask {
    /// Whether nothing happens until somebody else acts.
    pub const fn is_settled(&self) -> bool {
        self.status.state.is_terminal() || self.status.state.is_interrupted()
    }
}

/// A message of a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerMessage {
    /// The task that it belongs to, if it names one.
    pub task: Option<TaskName>,
    /// The message; [`Message::task_id`] is not set.
    pub message: Message,
}

/// A change of the status of a peer's task.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerStatus {
    /// Which task, if it names one.
    pub task: Option<TaskName>,
    /// Which conversation, if it names one.
    pub context_id: Option<ContextId>,
    /// The new status.
    pub status: TaskStatus,
    /// Whether the peer says that its stream ends here. 1.0 has no word for it.
    pub is_final: bool,
    /// Free data of the peer.
    pub metadata: Map<String, Value>,
}

/// An artifact of a peer's task, or a further chunk of one.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerArtifact {
    /// Which task, if it names one.
    pub task: Option<TaskName>,
    /// Which conversation, if it names one.
    pub context_id: Option<ContextId>,
    /// The artifact, or the chunk.
    pub update: ArtifactUpdate,
}

/// One event of a peer's stream.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerEvent {
    /// The task as it stands.
    Task(Box<PeerTask>),
    /// A message.
    Message(Box<PeerMessage>),
    /// The status changed.
    Status(Box<PeerStatus>),
    /// An artifact came, or grew.
    Artifact(Box<PeerArtifact>),
}

/// What a peer answers to a request.
#[derive(Debug, Clone)]
pub enum PeerAnswer {
    /// A task.
    Task(Box<PeerTask>),
    /// A message, and no task.
    Message(Box<PeerMessage>),
    /// A page of tasks.
    Tasks(PeerPage),
    /// A push configuration.
    Push(Box<PeerPush>),
    /// The push configurations of a task.
    Pushes(Vec<PeerPush>),
    /// A push configuration was deleted.
    Deleted,
    /// A card, as it came.
    Card(Box<RawValue>),
}

/// A page of a peer's tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerPage {
    /// The tasks, in the peer's order.
    pub tasks: Vec<PeerTask>,
    /// Leads to the next page, if there is one.
    pub next_page_token: Option<String>,
    /// How many fit on a page, if the peer says so.
    pub page_size: Option<usize>,
    /// How many there are on all pages, if the peer says so.
    pub total: Option<usize>,
}

/// A push configuration, as a peer keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerPush {
    /// Whose it is, if the peer says so.
    pub task: Option<TaskName>,
    /// The rest.
    pub config: NewPush,
}
