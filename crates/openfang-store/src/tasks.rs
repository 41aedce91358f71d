//! The contract of the task store. Every write is compare-and-set, a terminal state never changes, and what belongs
//! to another owner does not exist.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId, TaskName, TraceId};
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Task, TaskParts, TaskState, TaskStatus};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{PushConfig, StoreFuture};

pub(crate) mod rules;

/// Tasks and their event log. A write returns when it is durable.
pub trait TaskStore: Send + Sync {
    /// Creates a task with its first events, unless the same owner sent the same message to the same agent before, or
    /// gave another task the same name.
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created>;
    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord>;
    /// One's own task, unless it has more than so many bytes.
    fn get_within<'a>(&'a self, owner: &'a Owner, id: TaskId, max_bytes: usize) -> StoreFuture<'a, Fit<TaskRecord>>;
    /// One's own task without what happened to it: its state and what is kept beside it.
    fn head<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord>;
    /// One's own task by the name that its maker gave it.
    fn find<'a>(&'a self, owner: &'a Owner, name: &'a TaskName) -> StoreFuture<'a, TaskId>;
    /// One's own tasks, latest change first; of each only the parts that were asked for.
    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage>;
    /// The same, unless the tasks of the page have more than so many bytes together.
    fn list_within<'a>(&'a self, query: &'a TaskQuery, max_bytes: usize) -> StoreFuture<'a, Fit<TaskPage>>;
    /// How many tasks an owner has in each state; states without any are left out.
    fn counts<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, BTreeMap<TaskState, u64>>;
    /// Appends events if the task is still at the version the writer read, and every state follows its former.
    fn append(&self, write: Append) -> StoreFuture<'_, Stamp>;
    /// The next events after `after`, oldest first, at most `limit`. Of a task that was folded there are none left.
    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>>;
    /// The same, as many as have no more than so many bytes. If the next write alone has more, it says how many.
    fn events_within<'a>(
        &'a self,
        owner: &'a Owner,
        id: TaskId,
        place: EventsAfter,
    ) -> StoreFuture<'a, Fit<Vec<TaskEvent>>>;
    /// A channel that shows the latest sequence number of one's own task, whichever process wrote it.
    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>>;
    /// Remembers that the owner wants the task to stop, for whichever node works on it.
    fn request_cancel<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, ()>;
    /// The live tasks of this node whose owners want them to stop.
    fn cancel_requests(&self, node: NodeId) -> StoreFuture<'_, Vec<TaskId>>;
    /// Submitted and working tasks of nodes that are not among the living, those made first first.
    fn orphans<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<TaskRecord>>;
    /// Takes a task over for a node, if it is still at this version. Counts as another attempt.
    fn claim(&self, id: TaskId, version: u64, node: NodeId) -> StoreFuture<'_, Stamp>;
    /// Folds and evicts what is old. Live tasks are never touched.
    fn retain(&self, rule: Retention, now: Timestamp) -> StoreFuture<'_, RetentionReport>;
    /// A channel that changes whenever another process wrote something.
    fn elsewhere(&self) -> watch::Receiver<u64>;
}

/// What was read, unless it was too large to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit<T> {
    Whole(T),
    /// It has so many bytes, and was not read.
    TooLarge(usize),
}

/// Which events to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsAfter {
    /// Those after this one.
    pub after: Seq,
    /// How many at most.
    pub limit: usize,
    /// How many bytes, as they are stored.
    pub max_bytes: usize,
}

/// A task to be.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id, fresh from the id source.
    pub id: TaskId,
    pub owner: Owner,
    /// Who works on it.
    pub agent: AgentName,
    pub context_id: ContextId,
    pub message: Message,
    /// What the same message has again when it is sent again.
    pub resend_key: ResendKey,
    /// What has happened to it already, after having been submitted with that message.
    pub events: Vec<EventBody>,
    /// What the message brought with it.
    pub labels: Labels,
    /// The request that made it.
    pub trace: TraceId,
    /// In whose dialect it was made.
    pub origin: Origin,
    /// What its maker calls it, where that is not for us to say.
    pub peer_name: Option<TaskName>,
    /// Where to tell what happens to it, from the beginning.
    pub push: Option<PushConfig>,
    /// The process that works on it.
    pub node: NodeId,
    pub at: Timestamp,
    /// How many live tasks this owner may have.
    pub live_limit: usize,
}

impl NewTask {
    /// The task before anything happened to it.
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

    /// Every event the task begins with.
    pub fn first_events(&self) -> Vec<EventBody> {
        first_events(self.at, self.message.clone(), self.events.clone())
    }

    fn submitted(&self) -> TaskStatus {
        submitted(self.at)
    }
}

/// [`NewTask::first_events`], for a home that takes the task apart.
pub(crate) fn first_events(at: Timestamp, message: Message, events: Vec<EventBody>) -> Vec<EventBody> {
    let begin = [EventBody::Status(submitted(at)), EventBody::Message(message)];
    begin.into_iter().chain(events).collect()
}

pub(crate) const fn submitted(at: Timestamp) -> TaskStatus {
    TaskStatus { state: TaskState::Submitted, message: None, timestamp: at }
}

/// What a message is known by when it is sent again. It is short, because every task has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResendKey([u8; 16]);

impl ResendKey {
    /// Of what is the same when a message is sent again: its id and what it says. Ids that grow with time make keys that
    /// do, so that new ones lie side by side.
    pub fn new(id: &str, said: &[u8]) -> Self {
        let said = Sha256::digest(said)
            .iter()
            .take(8)
            .fold(0_u64, |front, byte| (front << 8) | u64::from(*byte));
        Self::of(&format!("{id}#{said:016x}"))
    }

    /// From the text that stood in its place in earlier versions of the schema.
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

    /// Of a message that is never known again.
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
    /// The owner sent this very message to this agent before; the work is not done twice.
    Known(TaskId),
}

/// Where a task stands after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Counts the writes; the next one must name it.
    pub version: u64,
    /// The last event's place.
    pub seq: Seq,
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The fold of its events.
    pub task: Task,
    pub owner: Owner,
    /// Counts the writes; the next one must name it.
    pub version: u64,
    /// The last event's place.
    pub seq: Seq,
    /// The join of everything that entered it.
    pub labels: Labels,
    /// The request that made it.
    pub trace: TraceId,
    /// In whose dialect it was made.
    pub origin: Origin,
    /// What its maker calls it, where that is not for us to say.
    pub peer_name: Option<TaskName>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The process that works, or worked, on it.
    pub node: NodeId,
    /// How many processes have begun it.
    pub attempt: u32,
}

/// One write: events, in order, all or none.
#[derive(Debug, Clone)]
pub struct Append {
    pub owner: Owner,
    pub id: TaskId,
    /// The version the writer read.
    pub version: u64,
    pub events: Vec<EventBody>,
    /// What entered the task with them.
    pub labels: Labels,
    /// The process that works on it from now on, if that changes: a message continues it here.
    pub node: Option<NodeId>,
    pub at: Timestamp,
}

/// What is kept of finished tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How many one owner keeps; the oldest go first.
    pub finished_per_owner: usize,
    /// How long they are kept.
    pub finished_for: Duration,
    /// After this long their events are folded into the task, where that saves anything.
    pub fold_after: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// Tasks that are gone.
    pub evicted: usize,
    /// Tasks whose events were folded.
    pub folded: usize,
}

/// Which tasks to list.
#[derive(Debug, Clone)]
pub struct TaskQuery {
    pub owner: Owner,
    pub agent: Option<AgentName>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// Only those whose status changed at this moment or later.
    pub changed_since: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// Only those after this place.
    pub after: Option<Position>,
    /// How much of each task.
    pub parts: TaskParts,
    /// Bytes of all of them, as they are stored. The page ends before the task that would be too much, unless it is the
    /// first.
    pub max_bytes: usize,
}

/// A place in a list: the last row of the page before.
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
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
    /// How many rows there are on all pages.
    pub total: usize,
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
