//! The contract of the task store. Every write is compare-and-set, a terminal state never changes, and what belongs
//! to another owner does not exist.

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{AgentName, ContextId, Owner, TaskId, TraceId};
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Task, TaskState};
use tokio::sync::watch;

use crate::StoreFuture;

/// Tasks and their event log.
pub trait TaskStore: Send + Sync {
    /// Creates a submitted task with its first message, unless the same owner sent the same message before.
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created>;
    /// One's own task.
    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord>;
    /// One's own tasks, latest change first.
    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage>;
    /// Appends events if the task is still at the version the writer read, and every state follows its former.
    fn append(&self, write: Append) -> StoreFuture<'_, TaskRecord>;
    /// The next events after `after`, oldest first, at most `limit`.
    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>>;
    /// A channel that shows the latest sequence number of one's own task, whoever wrote it.
    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>>;
}

/// A task to be.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id, fresh from the id source.
    pub id: TaskId,
    /// Whose it is.
    pub owner: Owner,
    /// Who works on it.
    pub agent: AgentName,
    /// The conversation.
    pub context_id: ContextId,
    /// The first message.
    pub message: Message,
    /// What the message brought with it.
    pub labels: Labels,
    /// The request that made it.
    pub trace: TraceId,
    /// When.
    pub at: Timestamp,
    /// How many live tasks this owner may have.
    pub live_limit: usize,
}

/// What `create` found.
#[derive(Debug, Clone)]
pub enum Created {
    /// A new task.
    New(TaskRecord),
    /// The owner sent this very message to this agent before; the work is not done twice.
    Known(TaskRecord),
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The fold of its events.
    pub task: Task,
    /// Whose it is.
    pub owner: Owner,
    /// Counts the writes; the next one must name it.
    pub version: u64,
    /// The last event's place.
    pub seq: Seq,
    /// The join of everything that entered it.
    pub labels: Labels,
    /// The request that made it.
    pub trace: TraceId,
    /// When it was made.
    pub created_at: Timestamp,
}

/// One write: events, in order, all or none.
#[derive(Debug, Clone)]
pub struct Append {
    /// Whose task.
    pub owner: Owner,
    /// Which task.
    pub id: TaskId,
    /// The version the writer read.
    pub version: u64,
    /// What happened.
    pub events: Vec<EventBody>,
    /// What entered the task with them.
    pub labels: Labels,
    /// When.
    pub at: Timestamp,
}

/// Which tasks to list.
#[derive(Debug, Clone)]
pub struct TaskQuery {
    /// Whose.
    pub owner: Owner,
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// How many at most.
    pub limit: usize,
    /// Only those after this place.
    pub after: Option<Position>,
}

/// A place in a list: the last row of the page before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When that row's status changed.
    pub at: Timestamp,
    /// That row.
    pub id: TaskId,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct TaskPage {
    /// The rows.
    pub tasks: Vec<TaskRecord>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
    /// How many rows there are on all pages.
    pub total: usize,
}
