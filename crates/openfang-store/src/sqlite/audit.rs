//! Audit rows in SQLite: a chain per process, in sealed segments.
//!
//! `chain.rs` writes it, inside the transactions of the writer; `verify.rs` finds what was tampered with; `rotate.rs`
//! lets old segments go. A row that is waited for is synced before the wait ends. The last rows that nobody waited for
//! can be lost with their process, and nobody can tell: a segment that is not sealed has no known end.

use jiff::Timestamp;
use openfang_types::ids::NodeId;

use super::{Sqlite, unavailable};
use crate::audit::{AuditEntry, AuditRetention, Rotated, Verified};
use crate::{AuditRow, AuditStore, StoreError, StoreFuture};

mod chain;
mod read;
mod rotate;
mod verify;

pub(super) use chain::{Chain, SegmentLimits};
pub(super) use read::{entry, tail};
pub(super) use verify::verify;

/// The audit log of a database.
pub(super) struct SqliteAudit {
    sqlite: Sqlite,
}

impl SqliteAudit {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }

    /// A read that sees what was handed over before. If that cannot be written, what is there can still be read.
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
}

/// The row as it is hashed; made before it gets to the thread that all writes go through.
fn text_of(row: &AuditRow) -> Result<String, StoreError> {
    serde_json::to_string(row).map_err(|error| StoreError::Unavailable { why: error.to_string() })
}

impl AuditStore for SqliteAudit {
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        match text_of(&row) {
            Ok(text) => self.sqlite.write(move |batch| chain::append(batch, row.at, &text)),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    fn record(&self, row: AuditRow) {
        match text_of(&row) {
            Ok(text) => self.sqlite.inner.writer.write_later(move |batch| chain::append(batch, row.at, &text)),
            Err(error) => tracing::error!(%error, "an audit row was not written"),
        }
    }

    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>> {
        self.read_all(move |connection| tail(connection, after, limit))
    }

    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry> {
        let found = self.read_all(move |connection| entry(connection, n));
        Box::pin(async { found.await?.ok_or(StoreError::NotFound) })
    }

    fn verify(&self) -> StoreFuture<'_, Verified> {
        self.read_all(verify)
    }

    fn seal(&self, at: Timestamp) -> StoreFuture<'_, ()> {
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
            let mut rotated = Rotated::default();
            // Some in each transaction: whoever else writes waits for one of them at most.
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

/// Nanoseconds since 1970; what is further away than a database can say is the furthest it can say.
fn nanos(at: Timestamp) -> i64 {
    let clamped = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(clamped).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
