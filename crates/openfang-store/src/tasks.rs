//! The contract of the task store. Every write is compare-and-set, a terminal state never changes, and tasks of other
//! owners look like missing ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId, TaskName, TraceId};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Task, TaskParts, TaskState, TaskStatus};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use uuid::Uuid;

use crate::tail::Tail;
use crate::{PushConfig, RemoteRecord, StoreFuture, TranscriptWrite};

pub(crate) mod rules;

/// Tasks and their event log. A write returns when it is durable.
pub trait TaskStore: Send + Sync {
    /// Creates a task with its first events, unless the owner has sent the same message to the same agent before, or
    /// gave another task the same name.
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created>;
    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord>;
    /// A task of the owner, unless it is larger than this.
    fn get_within<'a>(&'a self, owner: &'a Owner, id: TaskId, max_bytes: usize) -> StoreFuture<'a, Fit<TaskRecord>>;
    /// A task of the owner without its events: its state and the values stored with it.
    fn head<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord>;
    /// A task of the owner by the name its creator gave it.
    fn find<'a>(&'a self, owner: &'a Owner, name: &'a TaskName) -> StoreFuture<'a, TaskId>;
    /// The owner's tasks, latest change first, with the requested parts only.
    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage>;
    /// The same, unless the tasks of the page are larger than this together.
    fn list_within<'a>(&'a self, query: &'a TaskQuery, max_bytes: usize) -> StoreFuture<'a, Fit<TaskPage>>;
    /// The number of the owner's tasks in each state; empty states are omitted.
    fn counts<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, BTreeMap<TaskState, u64>>;
    /// Appends events if the task is still at the version the writer read, and every state may follow the one before.
    fn append(&self, write: Append) -> StoreFuture<'_, Stamp>;
    /// The events after `after`, oldest first, at most `limit`. A folded task has none left.
    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>>;
    /// The same within a size limit. If the next write alone is larger, its size is returned.
    fn events_within<'a>(
        &'a self,
        owner: &'a Owner,
        id: TaskId,
        place: EventsAfter,
    ) -> StoreFuture<'a, Fit<Vec<TaskEvent>>>;
    /// A channel with the latest sequence number of a task of the owner, written by any process.
    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>>;
    /// What this process commits to one's own task while the tail is held, in memory. None from a home that is in memory
    /// itself.
    fn tail(&self, _owner: &Owner, _id: TaskId) -> Option<Arc<Tail>> {
        None
    }
    /// Records that the owner wants to cancel the task, for the node that works on it.
    fn request_cancel<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, ()>;
    /// The running tasks of this node that are to be canceled.
    fn cancel_requests(&self, node: NodeId) -> StoreFuture<'_, Vec<TaskId>>;
    /// Submitted and working tasks of nodes that are not alive, oldest first.
    fn orphans<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<TaskRecord>>;
    /// What narrowed the creator of a task: profiles, and the label of its key.
    fn scope(&self, id: TaskId) -> StoreFuture<'_, Option<String>>;
    /// The door of a task: how its newest message came in. None if that is not known.
    fn door(&self, id: TaskId) -> StoreFuture<'_, Option<Door>>;
    /// Takes over a task for a node, if it is still at this version. Counts as another attempt.
    fn claim(&self, id: TaskId, version: u64, node: NodeId) -> StoreFuture<'_, Stamp>;
    /// Folds and evicts old tasks, and deletes old transcripts. Running tasks are never touched.
    fn retain(&self, rule: Retention, now: Timestamp) -> StoreFuture<'_, RetentionReport>;
    /// A channel that changes whenever another process has written.
    fn elsewhere(&self) -> watch::Receiver<u64>;
}

/// A value, unless it was too large to read.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit<T> {
    Whole(T),
    /// The size of a value that was not read.
    TooLarge(usize),
}

/// Which events to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsAfter {
    /// The events after this sequence number.
    pub after: Seq,
    /// The maximum number of events.
    pub limit: usize,
    /// The maximum stored size in bytes.
    pub max_bytes: usize,
}

/// A task to create.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id, new from the id source.
    pub id: TaskId,
    pub owner: Owner,
    /// The agent that works on it.
    pub agent: AgentName,
    pub context_id: ContextId,
    pub message: Message,
    /// Identifies the message when it is sent again.
    pub resend_key: ResendKey,
    /// The events after the initial one, which submits the message.
    pub events: Vec<EventBody>,
    /// The labels of the message.
    pub labels: Labels,
    /// What narrows its creator: profiles, and the label of its key.
    pub scope: Option<String>,
    /// How its message came in.
    pub door: Door,
    /// The request that created it.
    pub trace: TraceId,
    /// The dialect in which it was created.
    pub origin: Origin,
    /// The creator's own name for the task. None if we chose the id.
    pub peer_name: Option<TaskName>,
    /// Where to push its events from the beginning.
    pub push: Option<PushConfig>,
    /// The remote side, if an agent on another server is about to work on it.
    pub remote: Option<RemoteRecord>,
    /// What is added to the transcript of the conversation.
    pub transcript: TranscriptWrite,
    /// The process that works on it.
    pub node: NodeId,
    pub at: Timestamp,
    /// How many running tasks this owner may have.
    pub live_limit: usize,
}

impl NewTask {
    /// The task without any events.
    pub fn task(&self) -> Task {
        Task {
            id: self.id,
            context_id: self.context_id.clone(),
            agent: self.agent.clone(),
            status: self.submitted(),
            history: Vec::new(),
            artifacts: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// All events the task starts with.
    pub fn first_events(&self) -> Vec<EventBody> {
        first_events(self.at, self.message.clone(), self.events.clone())
    }

    fn submitted(&self) -> TaskStatus {
        submitted(self.at)
    }
}

/// [`NewTask::first_events`] for a store that takes the task apart.
pub(crate) fn first_events(at: Timestamp, message: Message, events: Vec<EventBody>) -> Vec<EventBody> {
    let begin = [EventBody::Status(submitted(at)), EventBody::Message(message)];
    begin.into_iter().chain(events).collect()
}

pub(crate) const fn submitted(at: Timestamp) -> TaskStatus {
    TaskStatus { state: TaskState::Submitted, message: None, timestamp: at }
}

/// Identifies a message when it is sent again. It is short, because every task has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResendKey([u8; 16]);

impl ResendKey {
    /// Derived from what stays the same when a message is sent again: its id and its content. Ids that grow with time
    /// give growing keys, so that new keys are stored next to each other.
    pub fn new(id: &str, said: &[u8]) -> Self {
        let said = Sha256::digest(said)
            .iter()
            .take(8)
            .fold(0_u64, |front, byte| (front << 8) | u64::from(*byte));
        Self::of(&format!("{id}#{said:016x}"))
    }

    /// Derived from the text that earlier versions of the schema stored.
    pub(crate) fn of(text: &str) -> Self {
        const FRONT: u128 = u128::MAX << 64;
        let digest = Sha256::digest(text)
            .iter()
            .take(16)
            .fold(0_u128, |key, byte| (key << 8) | u128::from(*byte));
        let id = text.rsplit_once('#').map_or(text, |(id, _)| id);
        let front = Uuid::try_parse(id).map_or(digest, |id| id.as_u128());
        Self(((front & FRONT) | (digest & !FRONT)).to_be_bytes())
    }

    /// The key of a message that is never recognized again.
    pub fn unique(task: TaskId) -> Self {
        Self(task.as_uuid().into_bytes())
    }

    /// As it is stored.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    New(Stamp),
    /// The owner sent the same message to this agent before; the work is not done twice.
    Known(TaskId),
}

/// The version and sequence number of a task after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Counts the writes. The next write must name it.
    pub version: u64,
    /// The sequence number of the last event.
    pub seq: Seq,
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The task with all events applied.
    pub task: Task,
    pub owner: Owner,
    /// Counts the writes. The next write must name it.
    pub version: u64,
    /// The sequence number of the last event.
    pub seq: Seq,
    /// The joined labels of everything in the task.
    pub labels: Labels,
    /// The request that created it.
    pub trace: TraceId,
    /// The dialect in which it was created.
    pub origin: Origin,
    /// The creator's own name for the task. None if we chose the id.
    pub peer_name: Option<TaskName>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The process that works or worked on it.
    pub node: NodeId,
    /// How many processes have started it.
    pub attempt: u32,
}

/// One atomic write of events, in order.
#[derive(Debug, Clone)]
pub struct Append {
    pub owner: Owner,
    pub id: TaskId,
    /// The version the writer read.
    pub version: u64,
    pub events: Vec<EventBody>,
    /// The labels of the new events.
    pub labels: Labels,
    /// The remote side from now on; none leaves it as it is. The end of the task deletes it.
    pub remote: Option<RemoteRecord>,
    /// What is added to the transcript of the conversation.
    pub transcript: TranscriptWrite,
    /// The process that works on it from now on, if that changes because a message continues it here.
    pub node: Option<NodeId>,
    /// How the message came in that continues it, if one does.
    pub door: Option<Door>,
    pub at: Timestamp,
}

/// How long finished tasks and transcripts are retained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The number of finished tasks per owner; the oldest are evicted first.
    pub finished_per_owner: usize,
    /// The age at which they are evicted.
    pub finished_for: Duration,
    /// The age at which their events are folded into the task, where that saves space.
    pub fold_after: Duration,
    /// The time since the last item after which a transcript is deleted, unless a task of its conversation is running.
    /// It is always deleted with the last task.
    pub transcripts_for: Duration,
}

impl Retention {
    /// Nothing is evicted, folded or deleted.
    pub const FOREVER: Self = Self {
        finished_per_owner: usize::MAX,
        finished_for: Duration::MAX,
        fold_after: Duration::MAX,
        transcripts_for: Duration::MAX,
    };
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// The number of evicted tasks.
    pub evicted: usize,
    /// Tasks whose events were folded.
    pub folded: usize,
    /// The number of deleted transcripts.
    pub transcripts: usize,
}

/// The filter and the page of a task list.
#[derive(Debug, Clone)]
pub struct TaskQuery {
    pub owner: Owner,
    pub agent: Option<AgentName>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks of this conversation.
    pub context_id: Option<ContextId>,
    /// Only tasks whose status changed at this time or later.
    pub changed_since: Option<Timestamp>,
    /// Only tasks whose creator was narrowed exactly so.
    pub scope: Option<String>,
    /// The maximum number of tasks.
    pub limit: usize,
    /// Only tasks after this position.
    pub after: Option<Position>,
    /// The requested parts of each task.
    pub parts: TaskParts,
    /// The maximum stored size of all tasks. The page ends before the task that would exceed it, unless it is the
    /// first.
    pub max_bytes: usize,
}

/// A position in a list: the last row of the previous page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When that row's status changed.
    pub at: Timestamp,
    pub id: TaskId,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct TaskPage {
    pub tasks: Vec<TaskRecord>,
    /// The start of the next page, if there is one.
    pub next: Option<Position>,
    /// The number of rows on all pages.
    pub total: usize,
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
