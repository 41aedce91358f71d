//! How much an owner may keep, all tasks, files and memory together. The house itself may keep what it needs.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use openfang_types::ids::Owner;
use openfang_types::limits::OWNER_BYTES;

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
}

/// What an owner keeps, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnerBytes {
    /// Events of tasks.
    pub tasks: u64,
    /// Files that tools wrote, with their names.
    pub files: u64,
    /// Keys and values.
    pub memory: u64,
}

impl OwnerBytes {
    /// All together.
    pub const fn total(self) -> u64 {
        self.tasks.saturating_add(self.files).saturating_add(self.memory)
    }
}

impl fmt::Display for OwnerBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tasks {}, files {}, memory {} bytes", self.tasks, self.files, self.memory)
    }
}
