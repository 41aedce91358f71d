//! Audit rows without a waiting caller, and those that could not be written.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use openfang_types::ids::Owner;

use super::queue::Job;
use super::{Batch, StoreError};
use crate::AuditRow;
use crate::audit::{AuditGap, AuditStream};
use crate::sqlite::audit;

/// An audit row without a waiting caller.
pub(in crate::sqlite) struct LateRow {
    pub(in crate::sqlite) stream: AuditStream,
    pub(in crate::sqlite) at: Timestamp,
    pub(in crate::sqlite) text: String,
    /// Whether the row is kept until it can be written. Other rows are counted instead.
    pub(in crate::sqlite) is_kept: bool,
}

pub(super) struct RowJob {
    pub(super) row: LateRow,
    pub(super) is_written: bool,
    /// Whether it came while the queue was crowded.
    pub(super) is_crowding: bool,
}

/// Rows that could not be written, counted until the count can be written.
#[derive(Default)]
pub(super) struct Gaps {
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    gaps: HashMap<AuditStream, AuditGap>,
    since: Option<Instant>,
}

impl LateRow {
    pub(in crate::sqlite) fn new(stream: AuditStream, row: &AuditRow) -> Result<Self, StoreError> {
        Ok(Self { stream, at: row.at, text: audit::text_of(row)?, is_kept: true })
    }

    pub(super) fn into_job(self) -> Box<dyn Job> {
        Box::new(RowJob { row: self, is_written: false, is_crowding: false })
    }
}

impl Job for RowJob {
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError> {
        audit::append(batch, &self.row.stream, self.row.at, &self.row.text)?;
        self.is_written = true;
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) -> Option<LateRow> {
        (committed.is_err() || !self.is_written).then_some(self.row)
    }

    fn is_awaited(&self) -> bool {
        false
    }

    fn crowding(&self) -> Option<&Owner> {
        self.is_crowding.then_some(&self.row.stream.owner)
    }
}

impl Gaps {
    pub(super) fn add(&self, row: &LateRow) {
        let mut counted = self.lock();
        let gap = counted
            .gaps
            .entry(row.stream.clone())
            .or_insert_with(|| AuditGap::new(row.stream.clone(), row.at));
        gap.add(row.at);
        counted.since.get_or_insert_with(Instant::now);
    }

    /// How long the oldest count has been pending.
    pub(super) fn age(&self) -> Option<Duration> {
        self.lock().since.map(|since| since.elapsed())
    }

    /// The rows with the counts, which start again at zero.
    pub(super) fn take(&self) -> Vec<Box<dyn Job>> {
        let Counted { gaps, .. } = std::mem::take(&mut *self.lock());
        let rows = gaps.into_values().map(AuditGap::into_row);
        let late = rows.filter_map(|row| LateRow::new(AuditStream::of_the_log(), &row).ok());
        late.map(LateRow::into_job).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
