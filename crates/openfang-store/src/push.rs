//! The contract of push configurations: where to send the events of a task, and the delivery progress.
//!
//! A configuration with pending events has a due time. The event and the due time are written in one transaction, so
//! that nothing is forgotten. A delivery worker first takes a claim by compare-and-set and holds it until a given time.
//! A process that dies or does not report within that time loses the claim. Rows are removed with their task.

use jiff::Timestamp;
use openfang_types::event::Seq;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::secret::Secret;
use openfang_types::task::Origin;
use tokio::sync::watch;

use crate::StoreFuture;

/// Push configurations and their progress. A write returns when it is durable.
pub trait PushStore: Send + Sync {
    /// Adds a configuration to a task of the owner. It receives events from now on. A configuration with the same id is
    /// replaced and keeps its progress.
    fn set(&self, new: NewPush) -> StoreFuture<'_, PushRow>;
    /// The configurations of a task of the owner, oldest first.
    fn list<'a>(&'a self, owner: &'a Owner, task: TaskId) -> StoreFuture<'a, Vec<PushRow>>;
    /// Deletes a configuration of a task of the owner. A missing one is not an error.
    fn delete<'a>(&'a self, owner: &'a Owner, task: TaskId, id: &'a str) -> StoreFuture<'a, ()>;
    /// Configurations with events to deliver, those that have waited longest first.
    fn due(&self, query: DueQuery) -> StoreFuture<'_, DuePushes>;
    /// Claims a configuration for a node until a given time, if it has not changed since it was read.
    fn claim<'a>(&'a self, row: &'a PushRow, node: NodeId, until: Timestamp) -> StoreFuture<'a, PushClaim>;
    /// Records the progress of a claim. Refused if the claim was lost to another node.
    fn record_progress(&self, claim: PushClaim, progress: ClaimProgress) -> StoreFuture<'_, ()>;
    /// The nodes that hold claims. Determine the living nodes after this call, or a new node looks dead.
    fn holders(&self) -> StoreFuture<'_, Vec<NodeId>>;
    /// Releases the claims of dead nodes. Returns how many there were.
    fn abandon<'a>(&'a self, dead: &'a [NodeId], now: Timestamp) -> StoreFuture<'a, usize>;
    /// A channel that changes whenever this process adds a configuration or writes a due event.
    /// [`TaskStore::elsewhere`] reports other processes.
    ///
    /// [`TaskStore::elsewhere`]: crate::TaskStore::elsewhere
    fn waiting(&self) -> watch::Receiver<u64>;
}

/// Where and how to send events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// Unique within the task.
    pub id: String,
    pub url: String,
    /// The host of the URL, for the rate limit.
    pub host: String,
    /// Sent with each push, so that the receiver can authenticate us.
    pub token: Option<Secret>,
    /// Sent as the `Authorization` header.
    pub authorization: Option<PushAuthorization>,
    /// The dialect of the events.
    pub origin: Origin,
    /// The credential that created it, as text. None if it was not a user's credential.
    pub maker: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAuthorization {
    pub scheme: String,
    pub credentials: Option<Secret>,
}

/// A configuration to be.
#[derive(Debug, Clone)]
pub struct NewPush {
    pub owner: Owner,
    pub task: TaskId,
    /// The URL and the credentials.
    pub config: PushConfig,
    /// How many configurations the task may have.
    pub limit: usize,
    pub at: Timestamp,
}

/// A configuration as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRow {
    pub owner: Owner,
    /// The task it belongs to.
    pub task: TaskId,
    /// The URL and the credentials.
    pub config: PushConfig,
    /// When it was made.
    pub created_at: Timestamp,
    pub reached: DeliveryProgress,
    /// When there is something to deliver; none if nothing is pending.
    pub due_at: Option<Timestamp>,
    /// Counts claims and replacements. The next claim must name it.
    pub version: u64,
}

/// The delivery progress of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryProgress {
    /// Every event up to here was delivered, skipped or given up.
    pub seq: Seq,
    /// The number of attempts for the next event.
    pub attempts: u32,
    /// How many deliveries in a row were given up. From [`PUSH_GIVEN_UP`] on, delivery stops.
    ///
    /// [`PUSH_GIVEN_UP`]: openfang_types::limits::PUSH_GIVEN_UP
    pub given_up: u32,
    /// The outcome of the last attempt.
    pub outcome: Option<String>,
}

/// Which configurations to find.
#[derive(Debug, Clone)]
pub struct DueQuery {
    /// Those due at this time.
    pub now: Timestamp,
    /// Not those of these hosts.
    pub except_hosts: Vec<String>,
    /// Not those of these owners.
    pub except_owners: Vec<Owner>,
    /// How many at most.
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuePushes {
    pub rows: Vec<PushRow>,
    /// When the next configuration after `now` is due, of any owner.
    pub next: Option<Timestamp>,
}

/// The exclusive right to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushClaim {
    pub(crate) task: TaskId,
    pub(crate) id: String,
    pub(crate) version: u64,
}

/// The progress of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimProgress {
    pub reached: DeliveryProgress,
    /// What happens with the claim.
    pub then: ClaimOutcome,
}

/// What happens with a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It is held until then, because more events are pending.
    Hold(Timestamp),
    /// It is released, and due again then.
    Later(Timestamp),
    /// It is released. Due immediately if events are pending, otherwise at the next event.
    Rest(Timestamp),
}
