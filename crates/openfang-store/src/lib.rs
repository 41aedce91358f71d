//! The durable things, behind traits: tasks with their event log, transcripts of conversations, push configurations, the
//! remote side of tasks, key-value memory with labels, kept results, a work queue, schedules, published events, approvals, audit rows, users, usage of models.
//!
//! A home implements all of them: [`memory`], which is gone with its process, and [`sqlite`], which several processes
//! share. Whoever adds another runs `contract.rs` against it. [`nodes`] says which processes are alive.
//! Nothing here knows HTTP, a protocol or a model.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::task::TaskState;

pub mod approvals;
pub mod audit;
pub mod events;
pub mod files;
pub mod key_value;
pub mod memory;
pub mod nodes;
pub mod push;
pub mod queue;
pub mod quota;
pub mod remotes;
pub mod results;
pub mod schedules;
pub mod sqlite;
mod tail;
pub mod tasks;
pub mod transcripts;
pub mod usage;
pub mod users;

pub use approvals::{Approval, ApprovalState, ApprovalStore, Asker, CallDigests, Decision, DecisionWord};
pub use audit::{
    ApprovalStep, AuditArguments, AuditEntry, AuditFault, AuditGap, AuditHash, AuditKind, AuditLink, AuditOutcome,
    AuditProblem, AuditRemoval, AuditRetention, AuditRow, AuditStore, AuditSubject, AuditVerification, ChangeAction,
    ChangeTarget, HomePart, RefusalLimits, RefusalSummary, Rotated, SubjectKind,
};
pub use events::{EventQuery, EventRoom, EventStore, NumberedEvent, PublishLimits, Published, PublishedEvent};
pub use files::{FilePath, FileRecord, FileStore};
pub use key_value::{KeyValueStore, ListedKey, StoredValue};
pub use nodes::{Node, NodeError};
pub use push::{
    ClaimOutcome, ClaimProgress, DeliveryProgress, DuePushes, DueQuery, NewPush, PushAuthorization, PushClaim,
    PushConfig, PushRow, PushStore,
};
pub use queue::{
    Completion, NewQueueItem, QueueClaim, QueueEnd, QueueHolder, QueueItem, QueuePage, QueueQuery, QueueState,
    QueueStore,
};
pub use quota::{OwnerBytes, Quota};
pub use remotes::{RemotePhase, RemoteRecord, RemoteStore};
pub use results::{KeptResult, ResultForm, ResultStore};
pub use schedules::{DueSchedules, Schedule, ScheduleOutcome, ScheduleRun, ScheduleState, ScheduleStore};
pub use sqlite::{CheckInterrupter, DatabaseFile, Finding, Loss, MaintenanceError, OpenError, Report, Sqlite};
pub use tail::Tail;
pub use tasks::{
    Append, Created, EventsAfter, Fit, NewTask, Position, ResendKey, Retention, RetentionReport, Stamp, TaskPage,
    TaskQuery, TaskRecord, TaskStore,
};
pub use transcripts::{
    Conversation, ItemBody, ItemTooLarge, TranscriptItem, TranscriptKind, TranscriptPage, TranscriptQuery,
    TranscriptRange, TranscriptRow, TranscriptStore, TranscriptWrite,
};
pub use usage::{
    BudgetKind, BudgetLimits, BudgetSpent, Reservation, Spender, Spending, UsageKey, UsageQuery, UsageRecord,
    UsageStore, UsageTotal,
};
pub use users::{Accounts, Login, NewKey, NewUser, SecretDigest, User, UserKey, UserStore};

#[cfg(test)]
mod contract;

/// The result of a store call; boxed, because the store is chosen at run time.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store refused a call, grouped by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It does not exist or belongs to another owner. The two look the same.
    #[error("not found")]
    NotFound,
    /// Another writer was first: read again, then decide again.
    #[error("the row changed in the meantime")]
    Conflict,
    /// The task has ended, or the state must not follow the current one.
    #[error("a task that is {from} cannot become {to}")]
    NotAllowed {
        /// The state it is in.
        from: TaskState,
        to: TaskState,
    },
    /// The owner has reached the limit of running tasks.
    #[error("the limit of {limit} running tasks is reached; wait for one to end or cancel one")]
    TooManyLive {
        /// The limit of running tasks.
        limit: usize,
    },
    /// Nothing can be written at the moment: the disk is full, read-only or failing. Unacknowledged writes did not
    /// happen.
    #[error("the store cannot be written: {why}; nothing was changed; retry after the problem is fixed")]
    Unavailable {
        /// The error of the system.
        why: String,
    },
    /// The task has reached the limit of push configurations.
    #[error("the task already has {limit} push configurations; delete one of them")]
    TooManyPushes {
        /// The limit of push configurations.
        limit: usize,
    },
    /// The owner keeps as many keys as one may keep.
    #[error("{limit} keys are kept already; overwrite one of them")]
    TooManyKeys {
        /// How many one may keep.
        limit: usize,
    },
    /// The owner keeps as many bytes as one may keep.
    #[error(
        "the storage of this owner is full: {kept}, and {limit} are allowed; write shorter files or memory values, \
         let old tasks go (storage.finished_tasks, storage.finished_days, storage.transcript_days), or raise \
         storage.owner_bytes"
    )]
    OwnerFull {
        /// How many one may keep.
        limit: u64,
        /// What takes the room.
        kept: OwnerBytes,
    },
    /// There are as many of them as there may be.
    #[error("the limit of {limit} {what} is reached; remove one first")]
    TooMany {
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
}

/// Whether a store can be written, and its statistics.
pub trait StoreHealth: Send + Sync {
    /// Why the last write failed, if it did.
    fn failing(&self) -> Option<String>;
    /// Why a recent read failed, if one did.
    fn unreadable(&self) -> Option<String>;
    /// Tries a write. Afterwards everything queued before it is durable.
    fn probe(&self) -> StoreFuture<'_, ()>;
    /// Write statistics since the start.
    fn stats(&self) -> WriteStats;
}

/// Write statistics since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteStats {
    /// Commits; each is one sync of the log.
    pub commits: u64,
    /// Writes; many fit into one commit.
    pub writes: u64,
    /// Rows without a waiting caller that could not be written.
    pub lost: u64,
}

/// The stores a kernel works on.
#[derive(Clone)]
pub struct Stores {
    /// Tasks and their events.
    pub tasks: Arc<dyn TaskStore>,
    /// What agents with a model remember of conversations.
    pub transcripts: Arc<dyn TranscriptStore>,
    /// Where to push the events of tasks.
    pub pushes: Arc<dyn PushStore>,
    /// The remote side of tasks that agents on other servers work on.
    pub remotes: Arc<dyn RemoteStore>,
    pub memory: Arc<dyn KeyValueStore>,
    /// The labels of workspace files.
    pub files: Arc<dyn FileStore>,
    /// What results lost on their way.
    pub results: Arc<dyn ResultStore>,
    /// Work that agents and people post for each other.
    pub queue: Arc<dyn QueueStore>,
    /// What agents and people publish.
    pub events: Arc<dyn EventStore>,
    /// What agents are to do at certain times.
    pub schedules: Arc<dyn ScheduleStore>,
    /// Calls that wait for a person.
    pub approvals: Arc<dyn ApprovalStore>,
    pub audit: Arc<dyn AuditStore>,
    pub users: Arc<dyn UserStore>,
    /// What models were asked, and what it cost.
    pub usage: Arc<dyn UsageStore>,
    /// Whether the stores work.
    pub health: Arc<dyn StoreHealth>,
    /// How much an owner may keep in them.
    pub quota: Arc<Quota>,
}

impl Stores {
    /// Everything in the memory of this process, lost when it ends.
    pub fn in_memory() -> Self {
        let quota = Arc::<Quota>::default();
        let kept = Arc::new(memory::KeptBytes::new(Arc::clone(&quota)));
        let tasks = Arc::new(memory::MemoryTasks::new(Arc::clone(&kept)));
        Self {
            tasks: Arc::clone(&tasks) as _,
            transcripts: Arc::clone(&tasks) as _,
            pushes: Arc::clone(&tasks) as _,
            remotes: tasks,
            memory: Arc::new(memory::MemoryKeyValues::new(Arc::clone(&kept))),
            files: Arc::new(memory::MemoryFiles::new(Arc::clone(&kept))),
            results: Arc::new(memory::MemoryResults::new(Arc::clone(&kept))),
            queue: Arc::new(memory::MemoryQueue::new(kept)),
            events: Arc::new(memory::MemoryEvents::default()),
            schedules: Arc::new(memory::MemorySchedules::default()),
            approvals: Arc::new(memory::MemoryApprovals::default()),
            audit: Arc::new(memory::MemoryAudit::default()),
            users: Arc::new(memory::MemoryUsers::default()),
            usage: Arc::new(memory::MemoryUsage::default()),
            health: Arc::new(memory::MemoryHealth),
            quota,
        }
    }
}
