//! The effects of one transaction of the writer: which watchers to wake after the commit, and how the counters change.

use std::collections::HashMap;
use std::sync::Arc;

use openfang_types::event::{Seq, TaskEvent};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::task::TaskState;
use rusqlite::{CachedStatement, Connection, params};

use super::audit::Chain;
use super::{damaged, unavailable};
use crate::tail::Tail;
use crate::{OwnerBytes, Quota, StoreError};

const STATES: usize = TaskState::ALL.len();
const COUNTERS: usize = STATES + 5;

/// What is counted for an owner: a number and a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    /// Tasks in a state. The size of a task may be counted in any state: only the sum is used.
    Tasks(TaskState),
    Memory,
    Files,
    /// Results that are kept for a while.
    Results,
    Transcripts,
    Queue,
}

impl Counter {
    fn all() -> impl Iterator<Item = Self> {
        TaskState::ALL.into_iter().map(Self::Tasks).chain([
            Self::Memory,
            Self::Files,
            Self::Results,
            Self::Transcripts,
            Self::Queue,
        ])
    }

    const fn place(self) -> usize {
        match self {
            Self::Tasks(state) => state as usize,
            Self::Memory => STATES,
            Self::Files => STATES + 1,
            Self::Results => STATES + 2,
            Self::Transcripts => STATES + 3,
            Self::Queue => STATES + 4,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Tasks(state) => state.as_str(),
            Self::Memory => "memory",
            Self::Files => "files",
            Self::Results => "results",
            Self::Transcripts => "transcripts",
            Self::Queue => "queue",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "memory" => Some(Self::Memory),
            "files" => Some(Self::Files),
            "results" => Some(Self::Results),
            "transcripts" => Some(Self::Transcripts),
            "queue" => Some(Self::Queue),
            state => TaskState::from_word(state).map(Self::Tasks),
        }
    }
}

/// How many, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    number: i64,
    bytes: i64,
}

/// One transaction, and what to do after its commit.
pub(super) struct Batch<'c> {
    /// The connection, inside the transaction.
    pub(super) connection: &'c Connection,
    /// The heads of this process's audit chains, which count when the transaction is committed.
    pub(super) chain: &'c mut Chain,
    /// The statement for audit rows, once one was written.
    pub(super) audit_insert: Option<CachedStatement<'c>>,
    /// Why a write failed although the commit can succeed.
    pub(super) trouble: Option<StoreError>,
    touched: Vec<(TaskId, Seq)>,
    followed: Vec<(Arc<Tail>, Vec<TaskEvent>)>,
    is_push_waiting: bool,
    are_accounts_changed: bool,
    is_background_changed: bool,
    counts: HashMap<Owner, Counts>,
    quota: &'c Quota,
}

/// An owner's counters, each at its [place](Counter::place).
#[derive(Default)]
struct Counts {
    /// The values at the start of the transaction, read on demand and at most once.
    stored: Option<[Amount; COUNTERS]>,
    change: [Amount; COUNTERS],
}

impl<'c> Batch<'c> {
    pub(super) fn new(connection: &'c Connection, chain: &'c mut Chain, quota: &'c Quota) -> Self {
        Self {
            connection,
            chain,
            audit_insert: None,
            trouble: None,
            touched: Vec::new(),
            followed: Vec::new(),
            is_push_waiting: false,
            are_accounts_changed: false,
            is_background_changed: false,
            counts: HashMap::new(),
            quota,
        }
    }

    /// Wakes the watchers of this task after the commit.
    pub(super) fn touch(&mut self, task: TaskId, seq: Seq) {
        self.touched.push((task, seq));
    }

    /// Shows these events, after the commit, to those who follow their task.
    pub(super) fn show(&mut self, tail: Arc<Tail>, events: Vec<TaskEvent>) {
        self.followed.push((tail, events));
    }

    /// The transaction is committed: those who follow a task are shown what happened to it.
    pub(super) fn show_followers(&mut self) {
        for (tail, events) in self.followed.drain(..) {
            tail.committed(events);
        }
    }

    /// Reports changed credentials after the commit.
    pub(super) const fn accounts_changed(&mut self) {
        self.are_accounts_changed = true;
    }

    /// Whether credentials have changed.
    pub(super) const fn are_accounts_changed(&self) -> bool {
        self.are_accounts_changed
    }

    /// Wakes those who start work by themselves after the commit.
    pub(super) const fn background_changed(&mut self) {
        self.is_background_changed = true;
    }

    /// Whether there may be work that starts by itself.
    pub(super) const fn is_background_changed(&self) -> bool {
        self.is_background_changed
    }

    /// The changed tasks and their sequence numbers.
    pub(super) fn touched(&self) -> &[(TaskId, Seq)] {
        &self.touched
    }

    /// Wakes the delivery workers after the commit.
    pub(super) const fn push_waits(&mut self) {
        self.is_push_waiting = true;
    }

    /// Whether something is to be delivered.
    pub(super) const fn is_push_waiting(&self) -> bool {
        self.is_push_waiting
    }

    /// Changes a counter. All changes of a batch are written once.
    pub(super) fn change(&mut self, owner: &Owner, counter: Counter, number: i64, bytes: i64) {
        let change = &mut self.counts_of(owner).change[counter.place()];
        change.number += number;
        change.bytes += bytes;
    }

    /// The owner's number of running tasks, including the changes of this batch.
    pub(super) fn live(&mut self, owner: &Owner) -> Result<i64, StoreError> {
        let live = TaskState::ALL.into_iter().filter(|state| !state.is_terminal());
        let now = self.now(owner)?;
        Ok(live.map(|state| now(Counter::Tasks(state)).number).sum())
    }

    /// The owner's number of something, including the changes of this batch.
    pub(super) fn number(&mut self, owner: &Owner, counter: Counter) -> Result<i64, StoreError> {
        Ok(self.now(owner)?(counter).number)
    }

    /// Whether an owner may keep so many bytes more.
    pub(super) fn check_room(&mut self, owner: &Owner, more: i64) -> Result<(), StoreError> {
        let Ok(more @ 1..) = u64::try_from(more) else { return Ok(()) };
        let quota = self.quota;
        quota.check(owner, self.kept(owner)?, more)
    }

    /// Whether an owner may keep results of so many bytes more.
    pub(super) fn check_room_for_results(&mut self, owner: &Owner, more: i64) -> Result<(), StoreError> {
        let quota = self.quota;
        quota.check_results(owner, self.kept(owner)?, u64::try_from(more).unwrap_or_default())
    }

    /// What an owner keeps, with what this batch has done so far.
    fn kept(&mut self, owner: &Owner) -> Result<OwnerBytes, StoreError> {
        let now = self.now(owner)?;
        let bytes = |counter| u64::try_from(now(counter).bytes).unwrap_or_default();
        let tasks: i64 = TaskState::ALL.into_iter().map(|state| now(Counter::Tasks(state)).bytes).sum();
        Ok(OwnerBytes {
            tasks: u64::try_from(tasks).unwrap_or_default(),
            files: bytes(Counter::Files),
            memory: bytes(Counter::Memory),
            results: bytes(Counter::Results),
            transcripts: bytes(Counter::Transcripts),
            queue: bytes(Counter::Queue),
        })
    }

    /// The owner's counters, including the changes of this batch.
    fn now(&mut self, owner: &Owner) -> Result<impl Fn(Counter) -> Amount, StoreError> {
        let connection = self.connection;
        let counts = self.counts_of(owner);
        let stored = match counts.stored {
            Some(stored) => stored,
            None => *counts.stored.insert(stored(connection, owner)?),
        };
        let change = counts.change;
        Ok(move |counter: Counter| {
            let (stored, change) = (stored[counter.place()], change[counter.place()]);
            Amount { number: stored.number + change.number, bytes: stored.bytes + change.bytes }
        })
    }

    /// Writes the counters, as the last step before the commit.
    pub(super) fn write_counts(&self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO task_counts (owner, state, n, bytes) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (owner, state) DO UPDATE SET n = n + excluded.n, bytes = bytes + excluded.bytes";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (owner, counts) in &self.counts {
            for counter in Counter::all() {
                let change = counts.change[counter.place()];
                if change != Amount::default() {
                    statement.execute(params![owner.as_str(), counter.word(), change.number, change.bytes])?;
                }
            }
        }
        Ok(())
    }

    fn counts_of(&mut self, owner: &Owner) -> &mut Counts {
        self.counts.entry(owner.clone()).or_default()
    }
}

/// An owner's counters as they are stored.
fn stored(connection: &Connection, owner: &Owner) -> Result<[Amount; COUNTERS], StoreError> {
    let mut counts = [Amount::default(); COUNTERS];
    let sql = "SELECT state, n, bytes FROM task_counts WHERE owner = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query([owner.as_str()]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let word = row.get_ref(0).map_err(unavailable)?;
        let counter = word.as_str().ok().and_then(Counter::from_word);
        let counter = counter.ok_or_else(|| damaged("a counter of no state"))?;
        counts[counter.place()] =
            Amount { number: row.get(1).map_err(unavailable)?, bytes: row.get(2).map_err(unavailable)? };
    }
    Ok(counts)
}
