//! What one transaction of the writer has gathered: who is to be woken after the commit, and how the counters change.

use std::collections::HashMap;

use openfang_types::event::Seq;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::task::TaskState;
use rusqlite::{Connection, params};

use super::audit::Chain;
use super::{damaged, unavailable};
use crate::StoreError;

const STATES: usize = TaskState::ALL.len();

/// One transaction, and what is to be done when it is committed.
pub(super) struct Batch<'c> {
    /// The connection, inside the transaction.
    pub(super) connection: &'c Connection,
    /// Where the audit chain of this process stands; counts when the transaction is committed.
    pub(super) chain: Chain,
    /// Why a write could not be done, though the commit can.
    pub(super) trouble: Option<StoreError>,
    touched: Vec<(TaskId, Seq)>,
    is_push_waiting: bool,
    are_accounts_changed: bool,
    counts: HashMap<Owner, Counts>,
}

/// An owner's counters, in the order of [`TaskState::ALL`].
#[derive(Default)]
struct Counts {
    /// As they stood when the transaction began; read when somebody asks, at most once.
    stored: Option<[i64; STATES]>,
    change: [i64; STATES],
}

impl<'c> Batch<'c> {
    pub(super) fn new(connection: &'c Connection, chain: Chain) -> Self {
        Self {
            connection,
            chain,
            trouble: None,
            touched: Vec::new(),
            is_push_waiting: false,
            are_accounts_changed: false,
            counts: HashMap::new(),
        }
    }

    /// Wakes who watches this task, after the commit.
    pub(super) fn touch(&mut self, task: TaskId, seq: Seq) {
        self.touched.push((task, seq));
    }

    /// Says, after the commit, that others may be let in than before.
    pub(super) const fn accounts_changed(&mut self) {
        self.are_accounts_changed = true;
    }

    /// Whether others may be let in than before.
    pub(super) const fn are_accounts_changed(&self) -> bool {
        self.are_accounts_changed
    }

    /// The tasks that were touched, and where they stand.
    pub(super) fn touched(&self) -> &[(TaskId, Seq)] {
        &self.touched
    }

    /// Wakes who delivers, after the commit.
    pub(super) const fn push_waits(&mut self) {
        self.is_push_waiting = true;
    }

    /// Whether something is to be delivered.
    pub(super) const fn is_push_waiting(&self) -> bool {
        self.is_push_waiting
    }

    /// Changes a counter; all changes of a batch are written once.
    pub(super) fn count(&mut self, owner: &Owner, state: TaskState, by: i64) {
        self.counts_of(owner).change[state as usize] += by;
    }

    /// How many live tasks an owner has, with what this batch has done so far.
    pub(super) fn live(&mut self, owner: &Owner) -> Result<i64, StoreError> {
        let connection = self.connection;
        let counts = self.counts_of(owner);
        let stored = match counts.stored {
            Some(stored) => stored,
            None => *counts.stored.insert(stored(connection, owner)?),
        };
        let live = TaskState::ALL.into_iter().filter(|state| !state.is_terminal());
        Ok(live.map(|state| stored[state as usize] + counts.change[state as usize]).sum())
    }

    /// Writes the counters down; the last thing before the commit.
    pub(super) fn write_counts(&self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO task_counts (owner, state, n) VALUES (?1, ?2, ?3)
                   ON CONFLICT (owner, state) DO UPDATE SET n = n + excluded.n";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (owner, counts) in &self.counts {
            let changed = TaskState::ALL.into_iter().zip(counts.change).filter(|(_, by)| *by != 0);
            for (state, by) in changed {
                statement.execute(params![owner.as_str(), state.as_str(), by])?;
            }
        }
        Ok(())
    }

    fn counts_of(&mut self, owner: &Owner) -> &mut Counts {
        if !self.counts.contains_key(owner) {
            self.counts.insert(owner.clone(), Counts::default());
        }
        self.counts.entry(owner.clone()).or_default()
    }
}

/// An owner's counters as they are stored.
fn stored(connection: &Connection, owner: &Owner) -> Result<[i64; STATES], StoreError> {
    let mut counts = [0; STATES];
    let sql = "SELECT state, n FROM task_counts WHERE owner = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query([owner.as_str()]).map_err(unavailable)?;
    while let Some(row) = rows.next().map_err(unavailable)? {
        let word: String = row.get(0).map_err(unavailable)?;
        let state = TaskState::from_word(&word).ok_or_else(|| damaged("a counter of no state"))?;
        counts[state as usize] = row.get(1).map_err(unavailable)?;
    }
    Ok(counts)
}
