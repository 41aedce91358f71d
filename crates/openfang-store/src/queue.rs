//! The contract of the work queue: items that agents and people of one owner post, and that workers take one at a time.
//!
//! ```text
//! pending ──claim──> in progress ──complete──> completed | failed
//!    ^                   │ the lease ends
//!    └───────────────────┴──> dead                  (after as many claims as are allowed)
//! ```
//!
//! A claim gives its worker a lease. Only the worker of the last claim may end the item, and only while the lease lasts, so
//! an item ends once, whichever workers crash or come late.

use jiff::Timestamp;
use openfang_types::ids::{AgentName, Owner, QueueItemId, RunId};
use openfang_types::taint::Labels;

use crate::StoreFuture;

/// A queue of work for each owner.
pub trait QueueStore: Send + Sync {
    /// Adds an item, unless the owner has `limit` items that have not ended.
    fn post<'a>(&'a self, owner: &'a Owner, item: NewQueueItem, limit: usize) -> StoreFuture<'a, ()>;
    /// Takes the first item by priority, then age, that is for this worker or for anybody. Leases that have ended are
    /// given up first.
    fn claim<'a>(&'a self, owner: &'a Owner, claim: QueueClaim) -> StoreFuture<'a, Option<QueueItem>>;
    /// Ends an item for the worker that holds it.
    fn complete<'a>(&'a self, owner: &'a Owner, end: QueueEnd) -> StoreFuture<'a, Completion>;
    /// A page of items, the newest first.
    fn list<'a>(&'a self, owner: &'a Owner, query: QueueQuery) -> StoreFuture<'a, QueuePage>;
}

/// An item before it is posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewQueueItem {
    pub id: QueueItemId,
    pub title: String,
    pub description: String,
    /// The only agent that may take it.
    pub assigned_to: Option<AgentName>,
    /// The agent that posted it; none: a person.
    pub created_by: Option<AgentName>,
    /// Higher ones come first.
    pub priority: i32,
    /// Where its words came from.
    pub labels: Labels,
    pub at: Timestamp,
}

/// An item of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueItem {
    pub posted: NewQueueItem,
    pub state: QueueState,
    /// How often it was claimed.
    pub attempt: u32,
    /// Until when its last claim counts.
    pub lease_until: Option<Timestamp>,
    /// What the worker said at the end, and where that came from.
    pub result: Option<(String, Labels)>,
    /// When its state changed.
    pub changed_at: Timestamp,
}

/// The state of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueState {
    Pending,
    InProgress,
    Completed,
    Failed,
    /// Claimed as often as it may be, and never ended.
    Dead,
}

impl QueueState {
    pub const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Completed, Self::Failed, Self::Dead];

    /// The word in the database, in JSON and at the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Dead => "dead",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing can happen to the item any more.
    pub const fn has_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Dead => true,
            Self::Pending | Self::InProgress => false,
        }
    }
}

/// Who takes an item, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueClaim {
    /// The agent; none takes only what is for anybody.
    pub worker: Option<AgentName>,
    pub holder: QueueHolder,
    pub at: Timestamp,
    pub lease_until: Timestamp,
    /// Claims after which an item is dead when its lease ends.
    pub attempts: u32,
}

/// Who holds a claim: a run of an agent, or a caller without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueHolder {
    Run(RunId),
    /// Callers without a run are told apart by the number of the claim.
    Caller,
}

/// The text in the database: the worker, and its run.
pub(crate) fn holder_text(worker: Option<&AgentName>, holder: QueueHolder) -> String {
    let worker = worker.map_or("", AgentName::as_str);
    match holder {
        QueueHolder::Run(id) => format!("{worker}/{id}"),
        QueueHolder::Caller => format!("{worker}/"),
    }
}

/// How an item ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueEnd {
    pub id: QueueItemId,
    /// The agent that ends it.
    pub worker: Option<AgentName>,
    pub holder: QueueHolder,
    /// The number of the claim. With it the worker may end the item in another run, too. Needed of a caller without a
    /// run once an item was claimed again.
    pub attempt: Option<u32>,
    /// Whether the work has failed.
    pub is_failed: bool,
    pub result: String,
    pub labels: Labels,
    pub at: Timestamp,
}

/// What came of an attempt to end an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    Done,
    /// The owner has no such item.
    Unknown,
    Ended(QueueState),
    /// Nobody holds it now.
    NotClaimed,
    /// The lease of this worker has ended, or it was never this worker's.
    NotHeld,
    /// It was claimed several times; the caller must say which claim is its own.
    WhichClaim,
}

/// What decides about an end: the item as it is.
pub(crate) struct Holding<'a> {
    pub(crate) state: QueueState,
    pub(crate) holder: &'a str,
    pub(crate) attempt: u32,
    pub(crate) lease_until: Option<Timestamp>,
}

impl Holding<'_> {
    /// Whether this end is accepted.
    pub(crate) fn judge(&self, end: &QueueEnd) -> Completion {
        if self.state.has_ended() {
            return Completion::Ended(self.state);
        }
        match (self.state, self.lease_until) {
            (QueueState::InProgress, Some(until)) if until > end.at => {}
            (QueueState::InProgress, _) => return Completion::NotHeld,
            (QueueState::Pending | QueueState::Completed | QueueState::Failed | QueueState::Dead, _) => {
                return Completion::NotClaimed;
            }
        }
        let holder = holder_text(end.worker.as_ref(), end.holder);
        let worker = |text: &str| text.split('/').next().unwrap_or_default().to_owned();
        match end.attempt {
            Some(attempt) if attempt == self.attempt && worker(self.holder) == worker(&holder) => Completion::Done,
            None if self.holder == holder => match end.holder {
                QueueHolder::Caller if self.attempt > 1 => Completion::WhichClaim,
                QueueHolder::Caller | QueueHolder::Run(_) => Completion::Done,
            },
            Some(_) | None => Completion::NotHeld,
        }
    }
}

/// Which items are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueQuery {
    /// Only those in this state.
    pub state: Option<QueueState>,
    /// Only those older than this one.
    pub before: Option<QueueItemId>,
    pub limit: usize,
    /// Bytes of all of them together; the first is returned in any case.
    pub max_bytes: usize,
    /// The time by which leases are judged.
    pub at: Timestamp,
}

/// Some items, and whether there are more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueuePage {
    pub items: Vec<QueueItem>,
    pub has_more: bool,
}

impl QueuePage {
    /// Takes one more item, unless the page is full. Says whether it did.
    pub(crate) fn take(&mut self, item: QueueItem, query: &QueueQuery) -> bool {
        let bytes: usize = self.items.iter().map(QueueItem::weight).sum();
        let is_full = self.items.len() >= query.limit || bytes + item.weight() > query.max_bytes;
        self.has_more = is_full && !self.items.is_empty();
        if !self.has_more {
            self.items.push(item);
        }
        !self.has_more
    }
}

impl QueueItem {
    /// The item as a reader sees it: one whose lease has ended is pending again.
    pub(crate) fn seen_at(mut self, now: Timestamp) -> Self {
        if self.state == QueueState::InProgress && self.lease_until.is_none_or(|until| until <= now) {
            self.state = QueueState::Pending;
            self.lease_until = None;
        }
        self
    }

    /// What it counts for.
    pub(crate) fn weight(&self) -> usize {
        let result = self.result.as_ref().map_or(0, |(text, _)| text.len());
        self.posted.title.len() + self.posted.description.len() + result
    }
}
