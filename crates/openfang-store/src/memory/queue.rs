//! The work queue in a list per owner, in the order of posting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::ids::Owner;
use openfang_types::limits::QUEUE_ENDED_KEPT;

use super::kept_bytes::{KeptBytes, Kind};
use crate::queue::{Holding, holder_text};
use crate::{
    Completion, NewQueueItem, QueueClaim, QueueEnd, QueueItem, QueuePage, QueueQuery, QueueState, QueueStore,
    StoreError, StoreFuture,
};

/// The queues of all owners, in memory.
#[derive(Default)]
pub struct MemoryQueue {
    owners: Mutex<HashMap<Owner, Vec<QueueRow>>>,
    kept: Arc<KeptBytes>,
}

struct QueueRow {
    item: QueueItem,
    holder: String,
}

impl MemoryQueue {
    pub(crate) fn new(kept: Arc<KeptBytes>) -> Self {
        Self { kept, ..Self::default() }
    }

    fn with<T>(&self, owner: &Owner, work: impl FnOnce(&mut Vec<QueueRow>) -> T) -> T {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        work(owners.entry(owner.clone()).or_default())
    }

    fn forget(&self, owner: &Owner, row: &QueueRow) {
        self.kept.book(owner, Kind::Queue, row.item.weight() as u64, 0);
    }

    /// Of items that have ended, the latest are kept.
    fn forget_the_oldest(&self, owner: &Owner, rows: &mut Vec<QueueRow>) {
        loop {
            let ended = rows.iter().enumerate().filter(|(_, row)| row.item.state.has_ended());
            if ended.clone().count() <= QUEUE_ENDED_KEPT {
                return;
            }
            let Some((at, _)) = ended.min_by_key(|(_, row)| row.item.changed_at) else { return };
            self.forget(owner, &rows.remove(at));
        }
    }
}

impl QueueStore for MemoryQueue {
    fn post<'a>(&'a self, owner: &'a Owner, item: NewQueueItem, limit: usize) -> StoreFuture<'a, ()> {
        let done = self.with(owner, |rows| {
            if rows.iter().filter(|row| !row.item.state.has_ended()).count() >= limit {
                return Err(StoreError::TooMany { what: "open items of the queue", limit });
            }
            let changed_at = item.at;
            let item = QueueItem {
                posted: item,
                state: QueueState::Pending,
                attempt: 0,
                lease_until: None,
                result: None,
                changed_at,
            };
            self.kept.replace(owner, Kind::Queue, 0, item.weight() as u64)?;
            rows.push(QueueRow { item, holder: String::new() });
            Ok(())
        });
        Box::pin(async move { done })
    }

    fn claim<'a>(&'a self, owner: &'a Owner, claim: QueueClaim) -> StoreFuture<'a, Option<QueueItem>> {
        let claimed = self.with(owner, |rows| {
            let has_run_out = |row: &QueueRow| {
                row.item.state == QueueState::InProgress && row.item.lease_until.is_none_or(|until| until <= claim.at)
            };
            for row in rows.iter_mut().filter(|row| has_run_out(row)) {
                let is_dead = row.item.attempt >= claim.attempts;
                row.item.state = if is_dead { QueueState::Dead } else { QueueState::Pending };
                (row.item.lease_until, row.item.changed_at) = (None, claim.at);
                row.holder.clear();
            }
            self.forget_the_oldest(owner, rows);
            let is_for_worker = |row: &&mut QueueRow| {
                let assigned = &row.item.posted.assigned_to;
                row.item.state == QueueState::Pending && (assigned.is_none() || *assigned == claim.worker)
            };
            // Of equals, the first in the list is taken.
            let first = rows
                .iter_mut()
                .filter(is_for_worker)
                .min_by_key(|row| -i64::from(row.item.posted.priority))?;
            first.item.state = QueueState::InProgress;
            first.item.attempt += 1;
            (first.item.lease_until, first.item.changed_at) = (Some(claim.lease_until), claim.at);
            first.holder = holder_text(claim.worker.as_ref(), claim.holder);
            Some(first.item.clone())
        });
        Box::pin(async move { Ok(claimed) })
    }

    fn complete<'a>(&'a self, owner: &'a Owner, end: QueueEnd) -> StoreFuture<'a, Completion> {
        let done = self.with(owner, |rows| {
            let Some(row) = rows.iter_mut().find(|row| row.item.posted.id == end.id) else {
                return Completion::Unknown;
            };
            let QueueItem { state, attempt, lease_until, .. } = row.item;
            let verdict = Holding { state, holder: &row.holder, attempt, lease_until }.judge(&end);
            if verdict == Completion::Done {
                let before = row.item.weight() as u64;
                row.item.state = if end.is_failed { QueueState::Failed } else { QueueState::Completed };
                (row.item.lease_until, row.item.changed_at) = (None, end.at);
                row.item.result = Some((end.result, end.labels));
                row.holder.clear();
                self.kept.book(owner, Kind::Queue, before, row.item.weight() as u64);
                self.forget_the_oldest(owner, rows);
            }
            verdict
        });
        Box::pin(async move { Ok(done) })
    }

    fn list<'a>(&'a self, owner: &'a Owner, query: QueueQuery) -> StoreFuture<'a, QueuePage> {
        let listed = self.with(owner, |rows| {
            let end = match query.before {
                Some(id) => rows.iter().position(|row| row.item.posted.id == id).unwrap_or(0),
                None => rows.len(),
            };
            let seen = rows[..end].iter().rev().map(|row| row.item.clone().seen_at(query.at));
            let mut page = QueuePage::default();
            for item in seen.filter(|item| query.state.is_none_or(|state| state == item.state)) {
                if !page.take(item, &query) {
                    break;
                }
            }
            page
        });
        Box::pin(async move { Ok(listed) })
    }
}
