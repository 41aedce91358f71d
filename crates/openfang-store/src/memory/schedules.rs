//! Schedules in a map.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::{Owner, ScheduleId, TraceId};
use openfang_types::limits::SCHEDULES_ENDED_KEPT;
use tokio::sync::watch;

use crate::{DueSchedules, Schedule, ScheduleState, ScheduleStore, StoreError, StoreFuture};

/// Schedules that are kept in memory.
#[derive(Default)]
pub struct MemorySchedules {
    schedules: Mutex<HashMap<ScheduleId, Schedule>>,
    changes: watch::Sender<u64>,
}

impl MemorySchedules {
    fn lock(&self) -> MutexGuard<'_, HashMap<ScheduleId, Schedule>> {
        self.schedules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn insert(&self, new: Schedule, limit: usize) -> Result<(), StoreError> {
        let mut schedules = self.lock();
        let open = schedules.values().filter(|known| known.owner == new.owner && known.is_open()).count();
        if open >= limit {
            return Err(StoreError::TooMany { what: "schedules", limit });
        }
        schedules.insert(new.id, new);
        drop(schedules);
        self.changed();
        Ok(())
    }

    fn replace(&self, changed: Schedule) -> Result<Schedule, StoreError> {
        let mut schedules = self.lock();
        let (id, owner) = (changed.id, changed.owner.clone());
        let known = schedules.get(&id).ok_or(StoreError::NotFound)?;
        let Some(next) = known.replaced_by(changed.clone())? else {
            schedules.remove(&id);
            return Ok(changed);
        };
        schedules.insert(id, next.clone());
        let mut ended: Vec<(Timestamp, ScheduleId)> = schedules
            .values()
            .filter(|known| known.owner == owner && known.state == ScheduleState::Ended && known.run.is_none())
            .map(|known| (known.created_at, known.id))
            .collect();
        ended.sort_unstable();
        let too_many = ended.len().saturating_sub(SCHEDULES_ENDED_KEPT);
        for (_, id) in ended.into_iter().take(too_many) {
            schedules.remove(&id);
        }
        drop(schedules);
        self.changed();
        Ok(next)
    }
}

impl ScheduleStore for MemorySchedules {
    fn create(&self, new: Schedule, limit: usize) -> StoreFuture<'_, ()> {
        let done = self.insert(new, limit);
        Box::pin(async move { done })
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, Option<Schedule>> {
        let found = self.lock().get(&id).filter(|known| known.owner == *owner && known.is_visible()).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn list<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, Vec<Schedule>> {
        let mut found: Vec<Schedule> = self
            .lock()
            .values()
            .filter(|known| known.owner == *owner && known.is_visible())
            .cloned()
            .collect();
        found.sort_by_key(|known| std::cmp::Reverse((known.created_at, known.id)));
        Box::pin(async move { Ok(found) })
    }

    fn delete<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, bool> {
        let mut schedules = self.lock();
        let is_there = schedules.get(&id).is_some_and(|known| known.owner == *owner && known.is_visible());
        if is_there && let Some(left) = schedules.remove(&id).and_then(Schedule::removed) {
            schedules.insert(id, left);
        }
        drop(schedules);
        self.changed();
        Box::pin(async move { Ok(is_there) })
    }

    fn update(&self, changed: Schedule) -> StoreFuture<'_, Schedule> {
        let done = self.replace(changed);
        Box::pin(async move { done })
    }

    fn due(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, DueSchedules> {
        let schedules = self.lock();
        let mut waiting: Vec<(Timestamp, ScheduleId)> =
            schedules.values().filter_map(|known| Some((known.due_at()?, known.id))).collect();
        waiting.sort_unstable();
        let due = waiting.iter().take_while(|(at, _)| *at <= now).take(limit);
        let due = due.filter_map(|(_, id)| schedules.get(id).cloned()).collect();
        let next = waiting.iter().map(|(at, _)| *at).find(|at| *at > now);
        drop(schedules);
        Box::pin(async move { Ok(DueSchedules { schedules: due, next }) })
    }

    fn running(&self) -> StoreFuture<'_, Vec<Schedule>> {
        let running = self.lock().values().filter(|known| known.run.is_some()).cloned().collect();
        Box::pin(async move { Ok(running) })
    }

    fn has_started(&self, trace: TraceId) -> StoreFuture<'_, bool> {
        let found = self.lock().values().any(|known| known.trace == Some(trace));
        Box::pin(async move { Ok(found) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
