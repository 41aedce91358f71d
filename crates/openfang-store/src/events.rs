//! The contract of events that agents and people publish: a log for each owner, what of it is not delivered yet, and
//! which events led to which runs.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{AgentName, EventType, KeyId, NodeId, Owner, PublishedEventId, TraceId};
use openfang_types::taint::Labels;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::StoreFuture;

/// The events of all owners.
pub trait EventStore: Send + Sync {
    /// Adds an event, within the limits, and forgets the oldest that were delivered. Returns its number.
    fn publish(&self, event: PublishedEvent, limits: PublishLimits) -> StoreFuture<'_, Published>;
    /// Events of an owner, the newest first.
    fn list<'a>(&'a self, owner: &'a Owner, query: EventQuery) -> StoreFuture<'a, Vec<NumberedEvent>>;
    /// Events of an owner after a number, the oldest first.
    fn after<'a>(&'a self, owner: &'a Owner, number: u64, room: EventRoom) -> StoreFuture<'a, Vec<NumberedEvent>>;
    /// The number of the latest event of an owner; 0 if there was none.
    fn latest<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, u64>;
    /// Events of all owners that nobody delivers, the oldest first.
    fn waiting(&self, limit: usize) -> StoreFuture<'_, Vec<NumberedEvent>>;
    /// Events whose delivery was claimed, and by which process.
    fn claimed(&self, limit: usize) -> StoreFuture<'_, Vec<(NumberedEvent, NodeId)>>;
    /// Claims the delivery of an event that `from` holds, or nobody. Says whether this process holds it now.
    fn claim(&self, number: u64, node: NodeId, from: Option<NodeId>) -> StoreFuture<'_, bool>;
    /// The event is delivered.
    fn delivered(&self, number: u64) -> StoreFuture<'_, ()>;
    /// Remembers the types of the events that led to a run.
    fn add_run<'a>(&'a self, owner: &'a Owner, trace: TraceId, chain: Vec<EventType>) -> StoreFuture<'a, ()>;
    /// The types of the events that led to a run; empty for one that no event started.
    fn chain_of(&self, trace: TraceId) -> StoreFuture<'_, Vec<EventType>>;
    /// Changes when this process publishes, and when another process writes anything.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Something that was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedEvent {
    pub id: PublishedEventId,
    pub owner: Owner,
    pub event_type: EventType,
    /// The text of a JSON document.
    pub payload: Option<String>,
    /// Where the payload came from, and all that led to it.
    pub labels: Labels,
    /// The agent that published it; none: a person.
    pub created_by: Option<AgentName>,
    /// The key of the user that published it.
    pub key: Option<KeyId>,
    /// What narrowed whoever published it; empty for nothing.
    pub scope: String,
    /// The types of the events that led to it, the first one first.
    pub chain: Vec<EventType>,
    pub at: Timestamp,
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedEvent {
    pub number: u64,
    pub event: PublishedEvent,
}

/// How much an owner may publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishLimits {
    /// Of one type, in `period`.
    pub of_type: u32,
    /// Of all types, in `period`.
    pub of_all: u32,
    pub period: Duration,
    /// Events that may wait for their delivery.
    pub waiting: usize,
}

/// What came of publishing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It is stored under this number.
    Done(u64),
    /// There were too many of this type.
    TooManyOfType,
    /// There were too many of all types.
    TooMany,
    /// Too many wait for their delivery.
    TooManyWaiting,
}

/// Which events are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuery {
    pub event_type: Option<EventType>,
    /// Only those with a smaller number.
    pub before: Option<u64>,
    pub room: EventRoom,
}

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRoom {
    pub events: usize,
    /// Bytes of their payloads together; the first is read in any case.
    pub bytes: usize,
}

impl PublishedEvent {
    /// What it counts for.
    pub(crate) fn weight(&self) -> usize {
        self.payload.as_ref().map_or(0, String::len) + self.event_type.as_str().len()
    }
}

impl EventRoom {
    /// Whether one more fits.
    pub(crate) fn has_room(self, read: &[NumberedEvent], next: &PublishedEvent) -> bool {
        let bytes: usize = read.iter().map(|known| known.event.weight()).sum();
        read.is_empty() || (read.len() < self.events && bytes + next.weight() <= self.bytes)
    }
}
