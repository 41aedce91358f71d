//! Push configurations in memory. Each belongs to its task and is removed with it.

use jiff::Timestamp;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::PUSH_GIVEN_UP;
use tokio::sync::watch;

use super::{Entry, Inner, MemoryTasks, ready};
use crate::push::{ClaimOutcome, ClaimProgress, DuePushes, DueQuery, PushClaim};
use crate::{DeliveryProgress, NewPush, PushConfig, PushRow, PushStore, StoreError, StoreFuture};

/// A configuration and its claim.
pub(super) struct PushEntry {
    row: PushRow,
    node: Option<NodeId>,
}

impl PushEntry {
    /// A configuration created together with its task.
    pub(super) fn from_the_beginning(owner: Owner, task: TaskId, config: PushConfig, at: Timestamp) -> Self {
        let mut pushed = Self::new(NewPush { owner, task, config, limit: 1, at });
        pushed.row.due_at = Some(at);
        pushed
    }

    fn new(new: NewPush) -> Self {
        let NewPush { owner, task, config, at, .. } = new;
        let reached = DeliveryProgress::default();
        Self { row: PushRow { owner, task, config, created_at: at, reached, due_at: None, version: 1 }, node: None }
    }

    /// Records an event of the task. Returns whether the configuration was idle before.
    pub(super) fn happened(&mut self, at: Timestamp) -> bool {
        let is_woken = self.row.due_at.is_none() && self.row.reached.given_up < PUSH_GIVEN_UP;
        if is_woken {
            self.row.due_at = Some(at);
        }
        is_woken
    }

    /// Refuses a caller that does not hold the claim.
    fn held_by(&mut self, claim: &PushClaim) -> Result<&mut Self, StoreError> {
        let is_held = self.row.version == claim.version && self.node.is_some();
        if is_held { Ok(self) } else { Err(StoreError::Conflict) }
    }
}

impl Entry {
    fn pushed(&mut self, id: &str) -> Option<&mut PushEntry> {
        self.pushes.iter_mut().find(|push| push.row.config.id == id)
    }
}

impl Inner {
    pub(super) fn wake_pushes(&self) {
        self.pushes_waiting.send_modify(|changes| *changes += 1);
    }

    fn set_push(&mut self, new: NewPush) -> Result<PushRow, StoreError> {
        let entry = self.own(&new.owner, new.task)?;
        let last = entry.record.seq;
        if let Some(known) = entry.pushed(&new.config.id) {
            let reached = DeliveryProgress { seq: known.row.reached.seq, ..DeliveryProgress::default() };
            known.row.due_at = Some(new.at).filter(|_| last > reached.seq);
            known.row.config = new.config;
            known.row.reached = reached;
            known.row.version += 1;
            known.node = None;
            let row = known.row.clone();
            self.wake_pushes();
            return Ok(row);
        }
        if entry.pushes.len() >= new.limit {
            return Err(StoreError::TooManyPushes { limit: new.limit });
        }
        let mut pushed = PushEntry::new(new);
        pushed.row.reached.seq = last;
        let row = pushed.row.clone();
        entry.pushes.push(pushed);
        self.wake_pushes();
        Ok(row)
    }

    fn due(&self, query: &DueQuery) -> DuePushes {
        let all = || self.entries.values().flat_map(|entry| &entry.pushes).map(|pushed| &pushed.row);
        let is_wanted = |row: &&PushRow| {
            row.due_at.is_some_and(|due| due <= query.now)
                && !query.except_hosts.contains(&row.config.host)
                && !query.except_owners.contains(&row.owner)
        };
        let mut rows: Vec<PushRow> = all().filter(is_wanted).cloned().collect();
        rows.sort_by_key(|row| row.due_at);
        rows.truncate(query.limit);
        let next = all().filter_map(|row| row.due_at).filter(|due| *due > query.now).min();
        DuePushes { rows, next }
    }

    fn claim_push(&mut self, row: &PushRow, node: NodeId, until: Timestamp) -> Result<PushClaim, StoreError> {
        let entry = self.entries.get_mut(&row.task).ok_or(StoreError::Conflict)?;
        let held = entry.pushed(&row.config.id).filter(|held| held.row.version == row.version);
        let held = held.filter(|held| held.row.due_at.is_some()).ok_or(StoreError::Conflict)?;
        held.row.version += 1;
        held.row.due_at = Some(until);
        held.node = Some(node);
        Ok(PushClaim { task: row.task, id: row.config.id.clone(), version: held.row.version })
    }

    fn record_push_progress(&mut self, claim: &PushClaim, progress: ClaimProgress) -> Result<(), StoreError> {
        let entry = self.entries.get_mut(&claim.task).ok_or(StoreError::Conflict)?;
        let last = entry.record.seq;
        let held = entry.pushed(&claim.id).ok_or(StoreError::Conflict)?.held_by(claim)?;
        let ClaimProgress { reached, then } = progress;
        let has_more = last > reached.seq && reached.given_up < PUSH_GIVEN_UP;
        held.row.reached = reached;
        held.row.due_at = match then {
            ClaimOutcome::Hold(at) | ClaimOutcome::Later(at) => Some(at),
            ClaimOutcome::Rest(at) => Some(at).filter(|_| has_more),
        };
        held.node = held.node.filter(|_| matches!(then, ClaimOutcome::Hold(_)));
        Ok(())
    }

    fn abandon_pushes(&mut self, dead: &[NodeId], now: Timestamp) -> usize {
        let mut abandoned = 0;
        for pushed in self.entries.values_mut().flat_map(|entry| &mut entry.pushes) {
            if pushed.node.is_some_and(|node| dead.contains(&node)) {
                pushed.node = None;
                pushed.row.due_at = Some(now);
                pushed.row.version += 1;
                abandoned += 1;
            }
        }
        if abandoned > 0 {
            self.wake_pushes();
        }
        abandoned
    }
}

impl PushStore for MemoryTasks {
    fn set(&self, new: NewPush) -> StoreFuture<'_, PushRow> {
        ready(self.lock().set_push(new))
    }

    fn list<'a>(&'a self, owner: &'a Owner, task: TaskId) -> StoreFuture<'a, Vec<PushRow>> {
        let mut inner = self.lock();
        let rows = |entry: &mut Entry| entry.pushes.iter().map(|pushed| pushed.row.clone()).collect();
        ready(inner.own(owner, task).map(rows))
    }

    fn delete<'a>(&'a self, owner: &'a Owner, task: TaskId, id: &'a str) -> StoreFuture<'a, ()> {
        let mut inner = self.lock();
        let entry = inner.own(owner, task);
        ready(entry.map(|entry| entry.pushes.retain(|pushed| pushed.row.config.id != id)))
    }

    fn due(&self, query: DueQuery) -> StoreFuture<'_, DuePushes> {
        ready(Ok(self.lock().due(&query)))
    }

    fn claim<'a>(&'a self, row: &'a PushRow, node: NodeId, until: Timestamp) -> StoreFuture<'a, PushClaim> {
        ready(self.lock().claim_push(row, node, until))
    }

    fn record_progress(&self, claim: PushClaim, progress: ClaimProgress) -> StoreFuture<'_, ()> {
        ready(self.lock().record_push_progress(&claim, progress))
    }

    fn holders(&self) -> StoreFuture<'_, Vec<NodeId>> {
        let inner = self.lock();
        let mut holders: Vec<NodeId> = inner
            .entries
            .values()
            .flat_map(|entry| &entry.pushes)
            .filter_map(|pushed| pushed.node)
            .collect();
        holders.sort_unstable();
        holders.dedup();
        ready(Ok(holders))
    }

    fn abandon<'a>(&'a self, dead: &'a [NodeId], now: Timestamp) -> StoreFuture<'a, usize> {
        ready(Ok(self.lock().abandon_pushes(dead, now)))
    }

    fn waiting(&self) -> watch::Receiver<u64> {
        self.lock().pushes_waiting.subscribe()
    }
}
