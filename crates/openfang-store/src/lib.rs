//! The durable things, behind traits: tasks with their event log, key-value memory with labels, audit rows.
//!
//! A home implements all three. Today there is one, [`memory`]; whoever adds another runs `contract.rs` against it.
//! Nothing here knows HTTP, a protocol or a model.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::task::TaskState;

pub mod audit;
pub mod key_value;
pub mod memory;
pub mod tasks;

pub use audit::{AuditOutcome, AuditRow, AuditStore};
pub use key_value::{Kept, KeyValueStore};
pub use tasks::{Append, Created, NewTask, Position, TaskPage, TaskQuery, TaskRecord, TaskStore};

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
    /// The owner keeps as many keys as one may keep.
    #[error("{limit} keys are kept already; overwrite one of them")]
    TooManyKeys {
        /// How many one may keep.
        limit: usize,
    },
}

/// The stores a kernel works on.
#[derive(Clone)]
pub struct Stores {
    /// Tasks and their events.
    pub tasks: Arc<dyn TaskStore>,
    /// What agents remember.
    pub memory: Arc<dyn KeyValueStore>,
    /// Who did what.
    pub audit: Arc<dyn AuditStore>,
}

impl Stores {
    /// Everything in this process's memory; gone when it ends.
    pub fn in_memory() -> Self {
        Self {
            tasks: Arc::new(memory::MemoryTasks::default()),
            memory: Arc::new(memory::MemoryKeyValues::default()),
            audit: Arc::new(memory::MemoryAudit::default()),
        }
    }
}
