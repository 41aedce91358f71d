//! The contract of schedules: what an agent is to do at certain times. What a time means is not known here.
//!
//! ```text
//! active ──due──> claimed by a process ──its run ends──> active | paused | ended
//!    ^                                                      │
//!    └───────────────────────resumed────────────────────────┘
//! ```
//!
//! Every change names the version that it was decided on, so of two processes one gets a run, and a process that dies
//! between its claim and the run leaves a claim that others can see.

use jiff::Timestamp;
use openfang_types::ids::{AgentName, KeyId, NodeId, Owner, ScheduleId, TaskId, TraceId};
use openfang_types::taint::Labels;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::{StoreError, StoreFuture};

/// The schedules of all owners.
pub trait ScheduleStore: Send + Sync {
    /// Adds one, unless the owner has `limit` that are not over.
    fn create(&self, new: Schedule, limit: usize) -> StoreFuture<'_, ()>;
    fn get<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, Option<Schedule>>;
    /// All of an owner, the newest first.
    fn list<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, Vec<Schedule>>;
    /// Removes one and says whether it was there. One whose run is under way is remembered until the run ends.
    fn delete<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, bool>;
    /// Replaces one that is still as it was read, and returns it with its new version. [`StoreError::Conflict`] if
    /// another writer was first, [`StoreError::NotFound`] if it was removed.
    fn update(&self, changed: Schedule) -> StoreFuture<'_, Schedule>;
    /// Schedules of all owners that are due, the earliest first, and when the next one is.
    fn due(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, DueSchedules>;
    /// Schedules of all owners whose run is under way, as far as is known here.
    fn running(&self) -> StoreFuture<'_, Vec<Schedule>>;
    /// Whether the latest run of a schedule has this trace.
    fn has_started(&self, trace: TraceId) -> StoreFuture<'_, bool>;
    /// Changes when this process changes a schedule, and when another process writes anything.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Something that an agent is to do at certain times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    pub id: ScheduleId,
    pub owner: Owner,
    /// What the agent is told.
    pub description: String,
    /// Where the description came from, and all that led to it.
    pub labels: Labels,
    /// When it is due, as the runtime writes it.
    pub timing: String,
    pub time_zone: String,
    /// The agent that is told.
    pub agent: AgentName,
    /// The agent that created it; none: a person.
    pub created_by: Option<AgentName>,
    /// The key of the user that created it.
    pub key: Option<KeyId>,
    /// What narrowed whoever created it; empty for nothing.
    pub scope: String,
    pub created_at: Timestamp,
    pub state: ScheduleState,
    /// Why it is paused.
    pub reason: Option<String>,
    /// When it is due next.
    pub next_at: Option<Timestamp>,
    /// The run that is under way.
    pub run: Option<ScheduleRun>,
    /// The trace of the latest run.
    pub trace: Option<TraceId>,
    /// What became of the latest run.
    pub last: Option<ScheduleOutcome>,
    /// Failed runs in a row.
    pub failures: u32,
    pub version: u64,
}

/// The state of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleState {
    Active,
    Paused,
    /// There is no next time.
    Ended,
    /// Removed while its run was under way.
    Deleted,
}

impl ScheduleState {
    /// The word in the database, in JSON and at the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::Deleted => "deleted",
        }
    }
}

/// A run that a process has claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRun {
    /// The process that claimed it.
    pub node: NodeId,
    /// The moment that it is for. There is one task for it.
    pub due: Timestamp,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleOutcome {
    pub due: Timestamp,
    pub task: Option<TaskId>,
    /// The state of the task, or why there is none.
    pub outcome: String,
}

/// Schedules that are due, and when the next one is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueSchedules {
    pub schedules: Vec<Schedule>,
    pub next: Option<Timestamp>,
}

impl Schedule {
    /// When it is to be looked at: nobody looks while a run is under way.
    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        self.next_at.filter(|_| self.state == ScheduleState::Active && self.run.is_none())
    }

    /// Whether it counts for what an owner may have.
    pub(crate) fn is_open(&self) -> bool {
        match self.state {
            ScheduleState::Active | ScheduleState::Paused => true,
            ScheduleState::Ended | ScheduleState::Deleted => false,
        }
    }

    /// Whether its owner sees it.
    pub(crate) fn is_visible(&self) -> bool {
        self.state != ScheduleState::Deleted
    }

    /// The same as it is stored after a change, if the change was decided on what is stored now; none if nothing is
    /// left of it.
    pub(crate) fn replaced_by(&self, changed: Self) -> Result<Option<Self>, StoreError> {
        if self.version != changed.version {
            return Err(StoreError::Conflict);
        }
        let is_gone = changed.state == ScheduleState::Deleted && changed.run.is_none();
        Ok((!is_gone).then(|| Self { version: self.version + 1, ..changed }))
    }

    /// What is left of it when its owner removes it.
    pub(crate) fn removed(self) -> Option<Self> {
        let version = self.version + 1;
        let left = Self { state: ScheduleState::Deleted, next_at: None, version, ..self };
        left.run.is_some().then_some(left)
    }
}
