//! Audit rows in a ring: the newest are kept. There is no chain: whoever can change them could change that, too.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::NodeId;
use openfang_types::limits::MEMORY_AUDIT_ROWS;

use crate::audit::{AuditEntry, AuditRetention, Rotated, Verified};
use crate::{AuditRow, AuditStore, StoreError, StoreFuture};

/// Audit rows in memory.
#[derive(Default)]
pub struct MemoryAudit {
    ring: Mutex<Ring>,
}

#[derive(Default)]
struct Ring {
    rows: VecDeque<AuditRow>,
    /// How many have been dropped: the first row's number is one more.
    dropped: u64,
}

impl MemoryAudit {
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn entries_from(&self, index: usize) -> impl Iterator<Item = Result<AuditEntry, StoreError>> {
        let numbers = self.dropped + 1..;
        let numbered = numbers.zip(&self.rows).skip(index);
        numbered.map(|(n, row)| Ok(AuditEntry { n, text: text(row)?, link: None }))
    }
}

fn text(row: &AuditRow) -> Result<Box<str>, StoreError> {
    let unwritable = |error: serde_json::Error| StoreError::Unavailable { why: error.to_string() };
    serde_json::to_string(row).map(String::into_boxed_str).map_err(unwritable)
}

impl AuditStore for MemoryAudit {
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        self.record(row);
        Box::pin(async { Ok(()) })
    }

    fn record(&self, row: AuditRow) {
        let mut ring = self.lock();
        if ring.rows.len() == MEMORY_AUDIT_ROWS {
            ring.rows.pop_front();
            ring.dropped += 1;
        }
        ring.rows.push_back(row);
    }

    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>> {
        let ring = self.lock();
        let skipped = match after {
            Some(n) => usize::try_from(n.saturating_sub(ring.dropped)).unwrap_or(usize::MAX),
            None => ring.rows.len().saturating_sub(limit),
        };
        let entries: Result<_, _> = ring.entries_from(skipped).take(limit).collect();
        Box::pin(async { entries })
    }

    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry> {
        let ring = self.lock();
        let index = n.checked_sub(ring.dropped + 1).and_then(|index| usize::try_from(index).ok());
        let found = index
            .and_then(|index| ring.entries_from(index).next())
            .unwrap_or(Err(StoreError::NotFound));
        Box::pin(async { found })
    }

    fn verify(&self) -> StoreFuture<'_, Verified> {
        let rows = self.lock().rows.len() as u64;
        Box::pin(async move { Ok(Verified { rows, ..Verified::default() }) })
    }

    fn seal(&self, _: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn seal_abandoned<'a>(&'a self, _: &'a [NodeId], _: Timestamp) -> StoreFuture<'a, usize> {
        Box::pin(async { Ok(0) })
    }

    fn rotate(&self, _: AuditRetention, _: Timestamp) -> StoreFuture<'_, Rotated> {
        Box::pin(async { Ok(Rotated::default()) })
    }
}
