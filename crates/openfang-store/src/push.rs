//! The contract of push configurations: where to tell what happens to a task, and how far that has come.
//!
//! A configuration with something to tell is due at a moment; the event and the moment are written in one transaction,
//! so that nothing is forgotten. Whoever delivers takes a claim first, by compare-and-set, and holds it until a moment:
//! a process that dies, or says nothing for that long, loses it. Rows go with their task.

use jiff::Timestamp;
use openfang_types::event::Seq;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::secret::Secret;
use openfang_types::task::Origin;
use tokio::sync::watch;

use crate::StoreFuture;

/// Push configurations, and how far each has come. A write returns when it is durable.
pub trait PushStore: Send + Sync {
    /// Adds a configuration to one's own task, which is told what happens from now on. One of the same id is replaced
    /// and goes on where it was.
    fn set(&self, new: NewPush) -> StoreFuture<'_, PushRow>;
    /// The configurations of one's own task, those made first first.
    fn list<'a>(&'a self, owner: &'a Owner, task: TaskId) -> StoreFuture<'a, Vec<PushRow>>;
    /// Takes a configuration of one's own task away; one that is not there is no error.
    fn delete<'a>(&'a self, owner: &'a Owner, task: TaskId, id: &'a str) -> StoreFuture<'a, ()>;
    /// Configurations that have something to tell now, those that have waited longest first.
    fn due(&self, query: DueQuery) -> StoreFuture<'_, Due>;
    /// Takes a configuration for a node until a moment, if it is still as it was read.
    fn claim<'a>(&'a self, row: &'a PushRow, node: NodeId, until: Timestamp) -> StoreFuture<'a, PushClaim>;
    /// Writes down how far a claim has come. Refused when the claim was lost: somebody else goes on.
    fn settle(&self, claim: PushClaim, progress: Progress) -> StoreFuture<'_, ()>;
    /// The nodes that hold claims. Who looks which of them live looks after this, or takes a newborn one for dead.
    fn holders(&self) -> StoreFuture<'_, Vec<NodeId>>;
    /// Lets go of the claims of dead nodes. Says how many there were.
    fn abandon<'a>(&'a self, dead: &'a [NodeId], now: Timestamp) -> StoreFuture<'a, usize>;
    /// A channel that changes whenever this process set one or wrote something that is due; [`TaskStore::elsewhere`] tells of
    /// others.
    ///
    /// [`TaskStore::elsewhere`]: crate::TaskStore::elsewhere
    fn waiting(&self) -> watch::Receiver<u64>;
}

/// Where to tell what happens, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// Unique within the task.
    pub id: String,
    /// Where to.
    pub url: String,
    /// The host of it: nobody is to be flooded.
    pub host: String,
    /// Sent along, so that the receiver knows us.
    pub token: Option<Secret>,
    /// Sent along as `Authorization`.
    pub authorization: Option<PushAuthorization>,
    /// In whose dialect it is told.
    pub origin: Origin,
    /// The credential that made it, as text; none: whoever needs none of a user's.
    pub maker: Option<String>,
}

/// `Authorization: {scheme} {credentials}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAuthorization {
    /// Such as `Bearer`.
    pub scheme: String,
    /// The secret part.
    pub credentials: Option<Secret>,
}

/// A configuration to be.
#[derive(Debug, Clone)]
pub struct NewPush {
    /// Whose task.
    pub owner: Owner,
    /// Which task.
    pub task: TaskId,
    /// Where to, and how.
    pub config: PushConfig,
    /// How many the task may have.
    pub limit: usize,
    /// When.
    pub at: Timestamp,
}

/// A configuration as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRow {
    /// Whose it is.
    pub owner: Owner,
    /// Which task it is about.
    pub task: TaskId,
    /// Where to, and how.
    pub config: PushConfig,
    /// When it was made.
    pub created_at: Timestamp,
    /// How far it has come.
    pub reached: Reached,
    /// When there is something to do about it; none: there is nothing to tell.
    pub due_at: Option<Timestamp>,
    /// Counts claims and replacements; the next claim must name it.
    pub version: u64,
}

/// How far a configuration has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reached {
    /// Every event up to here was delivered, needed not be, or was given up.
    pub seq: Seq,
    /// How often the next one was tried.
    pub attempts: u32,
    /// How many in a row were given up. From [`PUSH_GIVEN_UP`] on nothing more is told.
    ///
    /// [`PUSH_GIVEN_UP`]: openfang_types::limits::PUSH_GIVEN_UP
    pub given_up: u32,
    /// What became of the last try.
    pub outcome: Option<String>,
}

/// Which configurations to look for.
#[derive(Debug, Clone)]
pub struct DueQuery {
    /// Those due until then.
    pub now: Timestamp,
    /// Not those of these hosts.
    pub except_hosts: Vec<String>,
    /// Not those of these owners.
    pub except_owners: Vec<Owner>,
    /// How many at most.
    pub limit: usize,
}

/// What is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The configurations.
    pub rows: Vec<PushRow>,
    /// When the next one after `now` is due, whoever's it is.
    pub next: Option<Timestamp>,
}

/// The right to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushClaim {
    pub(crate) task: TaskId,
    pub(crate) id: String,
    pub(crate) version: u64,
}

/// What a claim has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// How far it has come.
    pub reached: Reached,
    /// What becomes of the claim.
    pub then: Then,
}

/// What becomes of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is held until then: there is more to tell.
    Hold(Timestamp),
    /// It is let go, and due again then.
    Later(Timestamp),
    /// It is let go; due now if there is more to tell, else when something happens.
    Rest(Timestamp),
}
