//! How much an owner may keep, all tasks, transcripts, files, memory and kept results together. The house itself may keep what it needs.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use openfang_types::ids::Owner;
use openfang_types::limits::{OWNER_BYTES, RESULTS_SHARE};

use crate::StoreError;

/// The limit of a home; all its stores ask it.
#[derive(Debug)]
pub struct Quota {
    owner_bytes: AtomicU64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { owner_bytes: AtomicU64::new(OWNER_BYTES) }
    }
}

impl Quota {
    /// Changes how many bytes an owner may keep.
    pub fn set(&self, owner_bytes: u64) {
        self.owner_bytes.store(owner_bytes, Ordering::Relaxed);
    }

    /// Whether an owner who keeps so much may keep `more`.
    pub(crate) fn check(&self, owner: &Owner, kept: OwnerBytes, more: u64) -> Result<(), StoreError> {
        let limit = self.owner_bytes.load(Ordering::Relaxed);
        if more == 0 || kept.total().saturating_add(more) <= limit || *owner == Owner::house() {
            return Ok(());
        }
        Err(StoreError::OwnerFull { limit, kept })
    }

    /// Whether an owner who keeps so much may keep results of `more` bytes. They have a share, whoever the owner is.
    pub(crate) fn check_results(&self, owner: &Owner, kept: OwnerBytes, more: u64) -> Result<(), StoreError> {
        let limit = self.owner_bytes.load(Ordering::Relaxed) / RESULTS_SHARE;
        if kept.results.saturating_add(more) > limit {
            return Err(StoreError::OwnerFull { limit, kept });
        }
        self.check(owner, kept, more)
    }
}

/// What an owner keeps, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnerBytes {
    pub tasks: u64,
    /// Files that tools wrote, with their names.
    pub files: u64,
    pub memory: u64,
    /// Results that are kept for a while.
    pub results: u64,
    /// What agents remember of conversations.
    pub transcripts: u64,
    /// Items of the work queue.
    pub queue: u64,
}

impl OwnerBytes {
    pub const fn total(self) -> u64 {
        self.tasks
            .saturating_add(self.files)
            .saturating_add(self.memory)
            .saturating_add(self.results)
            .saturating_add(self.transcripts)
            .saturating_add(self.queue)
    }
}

impl fmt::Display for OwnerBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, files, memory, results, transcripts, queue } = self;
        write!(
            f,
            "tasks {tasks}, transcripts {transcripts}, files {files}, memory {memory}, queue {queue}, results {results} bytes"
        )
    }
}
