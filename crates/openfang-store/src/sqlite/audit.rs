//! Audit rows in SQLite: a chain for each process, owner and kind, in sealed segments.
//!
//! `chain.rs` writes it inside the writer's transactions, `verify.rs` finds tampering, `rotate.rs` removes old
//! segments. A row that a caller waits for is synced before the wait ends. The last rows without a waiting caller can
//! be lost with their process, undetected: an unsealed segment has no known end.

use jiff::Timestamp;
use openfang_types::ids::NodeId;

use super::writer::LateRow;
use super::{Sqlite, unavailable};
use crate::audit::{
    AuditEntry, AuditKind, AuditRetention, AuditStream, AuditVerification, RefusalLimits, Refusals, Rotated,
};
use crate::{AuditOutcome, AuditRow, AuditStore, StoreError, StoreFuture};

mod chain;
mod read;
mod rotate;
mod verify;

pub(super) use chain::{Chain, SegmentLimits, append};
pub(super) use read::{entry, tail};
pub(super) use verify::verify;

/// The audit log of a database.
pub(super) struct SqliteAudit {
    sqlite: Sqlite,
    refusals: Refusals,
}

impl SqliteAudit {
    pub(super) fn new(sqlite: Sqlite, limits: RefusalLimits) -> Self {
        Self { sqlite, refusals: Refusals::new(limits) }
    }

    /// A read that sees everything submitted before. If pending rows cannot be written, existing rows can still be
    /// read.
    fn read_all<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let handed_over = self.sqlite.write(|_| Ok(()));
        Box::pin(async move {
            let _ = handed_over.await;
            self.sqlite.read(|connection| work(connection).map_err(unavailable)).await
        })
    }

    fn write_later(&self, kind: AuditKind, row: AuditRow) {
        let is_count = matches!(row.outcome, AuditOutcome::Refusals(_));
        match LateRow::new(AuditStream { owner: row.owner.clone(), kind }, &row) {
            Ok(late) => {
                let is_kept = kind == AuditKind::Deed || is_count;
                self.sqlite.inner.writer.write_row(LateRow { is_kept, ..late });
            }
            Err(error) => tracing::error!(%error, "an audit row could not be written"),
        }
    }
}

/// The row as it is hashed, encoded before it reaches the writer thread.
pub(super) fn text_of(row: &AuditRow) -> Result<String, StoreError> {
    let text = serde_json::to_string(row).map_err(|error| StoreError::Unavailable { why: error.to_string() })?;
    debug_assert!(serde_json::from_str(&text).is_ok_and(|read: AuditRow| read == *row), "{text} does not read back");
    Ok(text)
}

/// The row of a change and its stream.
fn deed(row: &AuditRow) -> Result<(AuditStream, String), StoreError> {
    Ok((AuditStream { owner: row.owner.clone(), kind: AuditKind::Deed }, text_of(row)?))
}

impl AuditStore for SqliteAudit {
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        match deed(&row) {
            Ok((stream, text)) => self.sqlite.write(move |batch| chain::append(batch, &stream, row.at, &text)),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    fn begin(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        match deed(&row) {
            Ok((stream, text)) => self.sqlite.write_new(move |batch| chain::append(batch, &stream, row.at, &text)),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    fn record(&self, kind: AuditKind, row: AuditRow) {
        let row = match kind {
            AuditKind::Deed | AuditKind::Read => Some(row),
            AuditKind::Refusal | AuditKind::Login => self.refusals.admit(kind, row),
        };
        if let Some(row) = row {
            self.write_later(kind, row);
        }
    }

    fn keeps_up(&self) -> bool {
        self.sqlite.inner.writer.keeps_up()
    }

    fn write_counts(&self, now: Timestamp) {
        self.refusals.due(now).into_iter().for_each(|(kind, row)| self.write_later(kind, row));
    }

    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>> {
        self.read_all(move |connection| tail(connection, after, limit))
    }

    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry> {
        let found = self.read_all(move |connection| entry(connection, n));
        Box::pin(async { found.await?.ok_or(StoreError::NotFound) })
    }

    fn verify(&self) -> StoreFuture<'_, AuditVerification> {
        self.read_all(verify)
    }

    fn seal(&self, at: Timestamp) -> StoreFuture<'_, ()> {
        self.refusals.all().into_iter().for_each(|(kind, row)| self.write_later(kind, row));
        self.sqlite.write(move |batch| chain::seal(batch, at))
    }

    fn seal_abandoned<'a>(&'a self, living: &'a [NodeId], at: Timestamp) -> StoreFuture<'a, usize> {
        Box::pin(async move {
            let nodes = self.sqlite.read(|connection| chain::open_nodes(connection).map_err(unavailable)).await?;
            let dead: Vec<NodeId> = nodes.into_iter().filter(|node| !living.contains(node)).collect();
            if dead.is_empty() {
                return Ok(0);
            }
            self.sqlite.write(move |batch| chain::seal_of(batch, &dead, at)).await
        })
    }

    fn rotate(&self, rule: AuditRetention, now: Timestamp) -> StoreFuture<'_, Rotated> {
        Box::pin(async move {
            self.sqlite.write(move |batch| chain::seal_old(batch, now)).await?;
            let mut rotated = Rotated::default();
            // A few in each transaction, so that other writers wait for one of them at most.
            loop {
                let some = self.sqlite.write(move |batch| rotate::cut_some(batch, rule, now)).await?;
                if some.segments == 0 {
                    return Ok(rotated);
                }
                rotated.segments += some.segments;
                rotated.rows += some.rows;
            }
        })
    }
}

/// Nanoseconds since 1970, limited to what a column can hold.
fn nanos(at: Timestamp) -> i64 {
    let clamped = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(clamped).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
