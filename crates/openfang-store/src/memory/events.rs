//! Published events in a list.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::ids::{EventType, NodeId, Owner, TraceId};
use openfang_types::limits::{EVENT_RUNS_KEPT, EVENTS_KEPT, EVENTS_KEPT_BYTES};
use tokio::sync::watch;

use crate::events::{EventQuery, EventRoom, EventStore, NumberedEvent, PublishLimits, Published, PublishedEvent};
use crate::{StoreError, StoreFuture};

/// Published events that are kept in memory.
#[derive(Default)]
pub struct MemoryEvents {
    log: Mutex<EventLog>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct EventLog {
    last: u64,
    rows: Vec<EventRow>,
    runs: Vec<(Owner, TraceId, Vec<EventType>)>,
    latest: HashMap<Owner, u64>,
}

struct EventRow {
    numbered: NumberedEvent,
    is_delivered: bool,
    node: Option<NodeId>,
}

impl MemoryEvents {
    fn lock(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl EventLog {
    fn publish(&mut self, event: PublishedEvent, limits: PublishLimits) -> Published {
        let since = event.at - limits.period;
        let of_owner = || self.rows.iter().filter(|row| row.numbered.event.owner == event.owner);
        let recent = || of_owner().map(|row| &row.numbered.event).filter(|known| known.at > since);
        if recent().filter(|known| known.event_type == event.event_type).count() >= limits.of_type as usize {
            return Published::TooManyOfType;
        }
        if recent().count() >= limits.of_all as usize {
            return Published::TooMany;
        }
        if of_owner().filter(|row| !row.is_delivered).count() >= limits.waiting {
            return Published::TooManyWaiting;
        }
        self.last += 1;
        let owner = event.owner.clone();
        self.latest.insert(owner.clone(), self.last);
        let numbered = NumberedEvent { number: self.last, event };
        self.rows.push(EventRow { numbered, is_delivered: false, node: None });
        self.forget_the_oldest(&owner);
        Published::Done(self.last)
    }

    fn forget_the_oldest(&mut self, owner: &Owner) {
        loop {
            let of_owner = || self.rows.iter().filter(|row| row.numbered.event.owner == *owner);
            let bytes: usize = of_owner().map(|row| row.numbered.event.weight()).sum();
            if of_owner().count() <= EVENTS_KEPT && bytes <= EVENTS_KEPT_BYTES {
                return;
            }
            let is_oldest = |row: &EventRow| row.numbered.event.owner == *owner && row.is_delivered;
            let Some(place) = self.rows.iter().position(is_oldest) else { return };
            self.rows.remove(place);
        }
    }
}

fn taken<'e>(rows: impl Iterator<Item = &'e EventRow>, room: EventRoom) -> Vec<NumberedEvent> {
    let mut read: Vec<NumberedEvent> = Vec::new();
    for row in rows {
        if read.len() >= room.events || !room.has_room(&read, &row.numbered.event) {
            break;
        }
        read.push(row.numbered.clone());
    }
    read
}

fn done<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(async move { Ok(value) })
}

impl EventStore for MemoryEvents {
    fn publish(&self, event: PublishedEvent, limits: PublishLimits) -> StoreFuture<'_, Published> {
        let published = self.lock().publish(event, limits);
        self.changed();
        done(published)
    }

    fn list<'a>(&'a self, owner: &'a Owner, query: EventQuery) -> StoreFuture<'a, Vec<NumberedEvent>> {
        let log = self.lock();
        let fits = |row: &&EventRow| {
            let NumberedEvent { number, event } = &row.numbered;
            event.owner == *owner
                && query.before.is_none_or(|before| *number < before)
                && query.event_type.as_ref().is_none_or(|wanted| event.event_type == *wanted)
        };
        done(taken(log.rows.iter().rev().filter(fits), query.room))
    }

    fn after<'a>(&'a self, owner: &'a Owner, number: u64, room: EventRoom) -> StoreFuture<'a, Vec<NumberedEvent>> {
        let log = self.lock();
        let fits = |row: &&EventRow| row.numbered.event.owner == *owner && row.numbered.number > number;
        done(taken(log.rows.iter().filter(fits), room))
    }

    fn latest<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, u64> {
        done(self.lock().latest.get(owner).copied().unwrap_or(0))
    }

    fn waiting(&self, limit: usize) -> StoreFuture<'_, Vec<NumberedEvent>> {
        let log = self.lock();
        let waiting = log.rows.iter().filter(|row| !row.is_delivered && row.node.is_none());
        done(waiting.take(limit).map(|row| row.numbered.clone()).collect())
    }

    fn claimed(&self, limit: usize) -> StoreFuture<'_, Vec<(NumberedEvent, NodeId)>> {
        let log = self.lock();
        let claimed = log.rows.iter().filter(|row| !row.is_delivered);
        done(claimed.filter_map(|row| Some((row.numbered.clone(), row.node?))).take(limit).collect())
    }

    fn claim(&self, number: u64, node: NodeId, from: Option<NodeId>) -> StoreFuture<'_, bool> {
        let mut log = self.lock();
        let is_it = |row: &&mut EventRow| row.numbered.number == number && !row.is_delivered && row.node == from;
        let found = log.rows.iter_mut().find(is_it);
        done(found.map(|row| row.node = Some(node)).is_some())
    }

    fn delivered(&self, number: u64) -> StoreFuture<'_, ()> {
        if let Some(row) = self.lock().rows.iter_mut().find(|row| row.numbered.number == number) {
            (row.is_delivered, row.node) = (true, None);
        }
        done(())
    }

    fn add_run<'a>(&'a self, owner: &'a Owner, trace: TraceId, chain: Vec<EventType>) -> StoreFuture<'a, ()> {
        let mut log = self.lock();
        log.runs.push((owner.clone(), trace, chain));
        if log.runs.iter().filter(|(whose, _, _)| whose == owner).count() > EVENT_RUNS_KEPT
            && let Some(oldest) = log.runs.iter().position(|(whose, _, _)| whose == owner)
        {
            log.runs.remove(oldest);
        }
        done(())
    }

    fn chain_of(&self, trace: TraceId) -> StoreFuture<'_, Vec<EventType>> {
        let log = self.lock();
        let found = log.runs.iter().find(|(_, known, _)| *known == trace).map(|(_, _, chain)| chain.clone());
        Box::pin(async move { Ok::<_, StoreError>(found.unwrap_or_default()) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
