//! Audit rows in memory: the newest are kept. Beyond the limit the oldest row of the owner and kind with the most rows
//! is removed, so that nobody can displace the rows of others. There is no chain: whoever can change the rows could
//! change the chain too.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::NodeId;
use openfang_types::limits::MEMORY_AUDIT_ROWS;

use crate::audit::{
    AuditEntry, AuditKind, AuditRemoval, AuditRetention, AuditStream, AuditVerification, Refusals, Rotated,
};
use crate::{AuditRow, AuditStore, StoreError, StoreFuture};

/// Audit rows in memory.
#[derive(Default)]
pub struct MemoryAudit {
    rows: Mutex<Rows>,
    refusals: Refusals,
}

#[derive(Default)]
struct Rows {
    by_number: BTreeMap<u64, AuditRow>,
    last: u64,
    /// The row numbers of each owner and kind, oldest first.
    streams: HashMap<AuditStream, VecDeque<u64>>,
    removed: BTreeMap<AuditStream, AuditRemoval>,
}

impl MemoryAudit {
    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_counts(&self, counts: Vec<(AuditKind, AuditRow)>) {
        let mut rows = self.lock();
        counts.into_iter().for_each(|(kind, row)| rows.add(kind, row));
    }
}

impl Rows {
    fn add(&mut self, kind: AuditKind, row: AuditRow) {
        if self.by_number.len() >= MEMORY_AUDIT_ROWS {
            self.remove_one();
        }
        self.last += 1;
        let stream = AuditStream { owner: row.owner.clone(), kind };
        self.streams.entry(stream).or_default().push_back(self.last);
        self.by_number.insert(self.last, row);
    }

    fn remove_one(&mut self) {
        let Some((stream, numbers)) = self.streams.iter_mut().max_by_key(|(_, numbers)| numbers.len()) else { return };
        let Some(row) = numbers.pop_front().and_then(|n| self.by_number.remove(&n)) else { return };
        let nothing = || AuditRemoval { of: Some(stream.owner.clone()), kind: Some(stream.kind), rows: 0, to: None };
        let removed = self.removed.entry(stream.clone()).or_insert_with(nothing);
        removed.rows += 1;
        removed.to = removed.to.max(Some(row.at));
    }
}

fn entry((n, row): (&u64, &AuditRow)) -> Result<AuditEntry, StoreError> {
    let unwritable = |error: serde_json::Error| StoreError::Unavailable { why: error.to_string() };
    let text = serde_json::to_string(row).map_err(unwritable)?;
    Ok(AuditEntry { n: *n, text: text.into(), link: None })
}

impl AuditStore for MemoryAudit {
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        self.lock().add(AuditKind::Deed, row);
        Box::pin(async { Ok(()) })
    }

    fn begin(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        self.commit(row)
    }

    fn record(&self, kind: AuditKind, row: AuditRow) {
        let row = match kind {
            AuditKind::Deed | AuditKind::Read => Some(row),
            AuditKind::Refusal | AuditKind::Login => self.refusals.admit(kind, row),
        };
        if let Some(row) = row {
            self.lock().add(kind, row);
        }
    }

    fn keeps_up(&self) -> bool {
        true
    }

    fn write_counts(&self, now: Timestamp) {
        self.add_counts(self.refusals.due(now));
    }

    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>> {
        let rows = self.lock();
        let entries: Result<_, _> = match after {
            Some(n) => rows.by_number.range(n.saturating_add(1)..).take(limit).map(entry).collect(),
            None => {
                let latest: Result<Vec<_>, _> = rows.by_number.iter().rev().take(limit).map(entry).collect();
                latest.map(|latest| latest.into_iter().rev().collect())
            }
        };
        Box::pin(async { entries })
    }

    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry> {
        let found = self.lock().by_number.get_key_value(&n).map_or(Err(StoreError::NotFound), entry);
        Box::pin(async { found })
    }

    fn verify(&self) -> StoreFuture<'_, AuditVerification> {
        let rows = self.lock();
        let removed = rows.removed.values().cloned().collect();
        let verified = AuditVerification { rows: rows.by_number.len() as u64, removed, ..AuditVerification::default() };
        Box::pin(async move { Ok(verified.complete()) })
    }

    fn seal(&self, _: Timestamp) -> StoreFuture<'_, ()> {
        self.add_counts(self.refusals.all());
        Box::pin(async { Ok(()) })
    }

    fn seal_abandoned<'a>(&'a self, _: &'a [NodeId], _: Timestamp) -> StoreFuture<'a, usize> {
        Box::pin(async { Ok(0) })
    }

    fn rotate(&self, _: AuditRetention, _: Timestamp) -> StoreFuture<'_, Rotated> {
        Box::pin(async { Ok(Rotated::default()) })
    }
}
