//! The contract of the remote side of tasks: which tasks an agent on another server works on for us, and how far that is
//! known.
//!
//! A record is written in the commit of its task: [`NewTask::remote`](crate::NewTask::remote) and
//! [`Append::remote`](crate::Append::remote). It is deleted in the commit that ends the task, except while the agent still
//! has to be told of a cancel.
//!
//! ```text
//! begun ──> known ──> asked ──> begun (the answer) ...
//!   └─────────┴─────────┴────> canceling ──> forgotten once the agent was told
//! ```

use jiff::Timestamp;
use openfang_types::ids::{AgentName, ContextId, MessageId, NodeId, Owner, TaskId, TaskName, TraceId};

use crate::StoreFuture;

/// What is known of the remote side of tasks.
pub trait RemoteStore: Send + Sync {
    /// The remote side of a task, until the task has ended.
    fn get(&self, task: TaskId) -> StoreFuture<'_, Option<RemoteRecord>>;
    /// The agent's name for one of the owner's conversations with it.
    fn context<'a>(
        &'a self,
        owner: &'a Owner,
        agent: &'a AgentName,
        context: &'a ContextId,
    ) -> StoreFuture<'a, Option<ContextId>>;
    /// Canceled tasks whose agent may not have been told, because the process that had to died.
    fn untold_cancels<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(TaskId, RemoteRecord)>>;
    /// Tasks whose agent waits until somebody signs in elsewhere, and that no living process works on, with their owners.
    fn abandoned_sign_ins<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(Owner, TaskId, RemoteRecord)>>;
    /// Forgets the remote side of a task: the agent was told of the cancel, or cannot be reached.
    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()>;
}

/// The remote side of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteRecord {
    /// The configured name of the agent.
    pub agent: AgentName,
    /// The URL that the message was sent to.
    pub endpoint: String,
    /// The dialect that was spoken there.
    pub dialect: String,
    /// The id of the message that was sent last.
    pub message_id: MessageId,
    /// The agent's id of the task, once it is known.
    pub remote_task: Option<TaskName>,
    /// The agent's id of the conversation, once it is known.
    pub remote_context: Option<ContextId>,
    pub phase: RemotePhase,
    /// The trace that the message carried.
    pub trace: TraceId,
    /// How many agents called agents until the message was sent.
    pub hops: u8,
    /// When the message was about to be sent.
    pub begun_at: Timestamp,
    /// When the agent was heard of last.
    pub seen_at: Timestamp,
}

/// How far the remote side of a task is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemotePhase {
    /// A message is about to be sent, or was sent; whether it arrived is not known.
    Begun,
    /// The agent has the message.
    Known,
    /// The agent waits for an answer of ours.
    Asked,
    /// Our task is canceled, and the agent is to be told.
    Canceling,
}

impl RemotePhase {
    const ALL: [Self; 4] = [Self::Begun, Self::Known, Self::Asked, Self::Canceling];

    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Known => "known",
            Self::Asked => "asked",
            Self::Canceling => "canceling",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

impl RemoteRecord {
    /// Whether the record outlives the end of its task.
    pub(crate) fn outlives_the_task(&self) -> bool {
        self.phase == RemotePhase::Canceling
    }
}
