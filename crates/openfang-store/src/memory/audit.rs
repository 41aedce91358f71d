//! Audit rows in a ring: the newest are kept.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use openfang_types::limits::MEMORY_AUDIT_ROWS;

use crate::{AuditRow, AuditStore, StoreFuture};

/// Audit rows in memory.
#[derive(Default)]
pub struct MemoryAudit {
    rows: Mutex<VecDeque<AuditRow>>,
}

impl AuditStore for MemoryAudit {
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()> {
        self.record(row);
        Box::pin(async { Ok(()) })
    }

    fn record(&self, row: AuditRow) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() == MEMORY_AUDIT_ROWS {
            rows.pop_front();
        }
        rows.push_back(row);
    }

    fn recent(&self, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = rows.len().saturating_sub(limit);
        let recent = rows.iter().skip(skipped).cloned().collect();
        Box::pin(async move { Ok(recent) })
    }
}
