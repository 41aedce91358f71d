//! The durable things, behind traits: tasks with their event log, push configurations, key-value memory with labels,
//! audit rows, users.
//!
//! A home implements all of them: [`memory`], which is gone with its process, and [`sqlite`], which several processes
//! share. Whoever adds another runs `contract.rs` against it. [`nodes`] says which processes are alive.
//! Nothing here knows HTTP, a protocol or a model.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::task::TaskState;

pub mod audit;
pub mod files;
pub mod key_value;
pub mod memory;
pub mod nodes;
pub mod push;
pub mod quota;
pub mod sqlite;
pub mod tasks;
pub mod users;

pub use audit::{
    AuditEntry, AuditFault, AuditGap, AuditHash, AuditKind, AuditLink, AuditOutcome, AuditProblem, AuditRemoval,
    AuditRetention, AuditRow, AuditStore, AuditSubject, ChangeAction, ChangeTarget, HomePart, RefusalLimits,
    RefusalSummary, Rotated, SubjectKind, Verified,
};
pub use files::{FilePath, FileRecord, FileStore};
pub use key_value::{Kept, KeyValueStore, ListedKey};
pub use nodes::{Node, NodeError};
pub use push::{
    Due, DueQuery, NewPush, Progress, PushAuthorization, PushClaim, PushConfig, PushRow, PushStore, Reached, Then,
};
pub use quota::{OwnerBytes, Quota};
pub use sqlite::{CheckInterrupter, DatabaseFile, Finding, Loss, MaintenanceError, OpenError, Report, Sqlite};
pub use tasks::{
    Append, Created, EventsAfter, Fit, NewTask, Position, ResendKey, Retained, Retention, Stamp, TaskPage, TaskQuery,
    TaskRecord, TaskStore,
};
pub use users::{Accounts, Login, NewKey, NewUser, SecretDigest, User, UserKey, UserStore};

#[cfg(test)]
mod contract;

/// What a store call returns; boxed, because homes are chosen at run time.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store refused, by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is none, or it is somebody else's: the two look the same.
    #[error("not found")]
    NotFound,
    /// Somebody else wrote first: read again, then decide again.
    #[error("the row changed in the meantime")]
    Conflict,
    /// The task has ended, or the state cannot follow the one it is in.
    #[error("a task that is {from} cannot become {to}")]
    NotAllowed {
        /// The state it is in.
        from: TaskState,
        /// The state that was asked for.
        to: TaskState,
    },
    /// The owner has as many live tasks as one may have.
    #[error("{limit} tasks are alive already; wait for one to end, or cancel one")]
    TooManyLive {
        /// How many one may have.
        limit: usize,
    },
    /// Nothing can be written now: the disk is full, read-only or failing. What was not acknowledged did not happen.
    #[error("the store cannot be written: {why}; nothing was changed, try again when that is repaired")]
    Unavailable {
        /// What the system says.
        why: String,
    },
    /// The task has as many push configurations as one may have.
    #[error("the task has {limit} push configurations already; delete one of them")]
    TooManyPushes {
        /// How many one may have.
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
         let old tasks go (storage.finished_tasks, storage.finished_days), or raise storage.owner_bytes"
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
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
}

/// Whether a home can be written, and what it has done.
pub trait StoreHealth: Send + Sync {
    /// Why the last write failed, if it did.
    fn failing(&self) -> Option<String>;
    /// Why a read failed not long ago, if one did.
    fn unreadable(&self) -> Option<String>;
    /// Tries a write; afterwards everything that was queued before it is durable.
    fn probe(&self) -> StoreFuture<'_, ()>;
    /// What has been written since the start.
    fn stats(&self) -> WriteStats;
}

/// What has been written since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteStats {
    /// Commits; each is one sync of the log.
    pub commits: u64,
    /// Writes; many fit into one commit.
    pub writes: u64,
    /// Rows that nobody waited for and that could not be written.
    pub lost: u64,
}

/// The stores a kernel works on.
#[derive(Clone)]
pub struct Stores {
    /// Tasks and their events.
    pub tasks: Arc<dyn TaskStore>,
    /// Where to tell what happens to them.
    pub pushes: Arc<dyn PushStore>,
    /// What agents remember.
    pub memory: Arc<dyn KeyValueStore>,
    /// What the files of workspaces carry.
    pub files: Arc<dyn FileStore>,
    /// Who did what.
    pub audit: Arc<dyn AuditStore>,
    /// Who there is.
    pub users: Arc<dyn UserStore>,
    /// Whether all that works.
    pub health: Arc<dyn StoreHealth>,
    /// How much an owner may keep in them.
    pub quota: Arc<Quota>,
}

impl Stores {
    /// Everything in this process's memory; gone when it ends.
    pub fn in_memory() -> Self {
        let quota = Arc::<Quota>::default();
        let kept = Arc::new(memory::KeptBytes::new(Arc::clone(&quota)));
        let tasks = Arc::new(memory::MemoryTasks::new(Arc::clone(&kept)));
        Self {
            tasks: Arc::clone(&tasks) as _,
            pushes: tasks,
            memory: Arc::new(memory::MemoryKeyValues::new(Arc::clone(&kept))),
            files: Arc::new(memory::MemoryFiles::new(kept)),
            audit: Arc::new(memory::MemoryAudit::default()),
            users: Arc::new(memory::MemoryUsers::default()),
            health: Arc::new(memory::MemoryHealth),
            quota,
        }
    }
}
