//! The queue of writes, and when they are due.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openfang_types::ids::Owner;
use openfang_types::limits::{
    STORE_BATCH, STORE_CROWD, STORE_GATHER, STORE_LINGER, STORE_QUEUE, STORE_QUEUE_CROWDED, STORE_QUEUE_ROWS,
    STORE_QUEUE_ROWS_PER_OWNER,
};

use super::Batch;
use super::rows::{LateRow, RowJob};
use crate::StoreError;

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    is_crowded: AtomicBool,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    /// When the writes are due: immediately if a caller waits for one of them, otherwise a moment after the first.
    due: Option<Instant>,
    /// How many arrived together last time.
    crowd: usize,
    /// The number of rows per owner that arrived while the queue was crowded.
    crowding: HashMap<Owner, usize>,
    is_closed: bool,
}

/// A queued write, which is answered after the commit.
pub(super) trait Job: Send {
    /// Does the work. Reports a failure immediately.
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError>;
    /// Answers the caller. An unwritten row without a caller is returned.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>) -> Option<LateRow>;
    fn is_awaited(&self) -> bool;
    /// The owner of the row, if it arrived while the queue was crowded.
    fn crowding(&self) -> Option<&Owner>;
}

impl State {
    /// How long the next job may wait for others. If many arrived together last time, as many are likely to arrive
    /// again and can share a sync. A single writer never waits.
    fn patience(&self, is_awaited: bool) -> Duration {
        let queued = self.jobs.len() + 1;
        match is_awaited {
            _ if queued >= STORE_BATCH => Duration::ZERO,
            false => STORE_LINGER,
            true if self.crowd >= STORE_CROWD && queued < self.crowd => STORE_GATHER,
            true => Duration::ZERO,
        }
    }

    /// Removes the taken rows from the counts.
    fn thin_out(&mut self, taken: &[Box<dyn Job>]) {
        for owner in taken.iter().filter_map(|job| job.crowding()) {
            if let Some(rows) = self.crowding.get_mut(owner) {
                *rows = rows.saturating_sub(1);
            }
        }
        self.crowding.retain(|_, rows| *rows > 0);
    }

    /// Whether a row that can be counted instead is accepted. In a crowded queue each owner has a share.
    fn has_room_for(&mut self, owner: &Owner) -> bool {
        if self.jobs.len() >= STORE_QUEUE_ROWS {
            return false;
        }
        let rows = self.crowding.entry(owner.clone()).or_default();
        let has_room = *rows < STORE_QUEUE_ROWS_PER_OWNER;
        *rows += usize::from(has_room);
        has_room
    }
}

impl Queue {
    pub(super) fn push(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreError::Unavailable { why: "the writer has ended".to_owned() });
        }
        if state.jobs.len() >= STORE_QUEUE {
            return Err(StoreError::Unavailable { why: "too many writes are waiting".to_owned() });
        }
        let is_sooner = self.add(&mut state, job);
        drop(state);
        if is_sooner {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Queues a row without a caller. It is returned if there is no room. A row that must be written always has room:
    /// there are no more of these than calls in progress.
    pub(super) fn push_row(&self, row: LateRow) -> Result<(), LateRow> {
        let mut state = self.lock();
        let is_crowding = !row.is_kept && state.jobs.len() >= STORE_QUEUE_CROWDED;
        if state.is_closed || (is_crowding && !state.has_room_for(&row.stream.owner)) {
            return Err(row);
        }
        let is_sooner = self.add(&mut state, Box::new(RowJob { row, is_written: false, is_crowding }));
        drop(state);
        if is_sooner {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Adds a job. Returns whether it is due before all others.
    fn add(&self, state: &mut State, job: Box<dyn Job>) -> bool {
        let due = Instant::now() + state.patience(job.is_awaited());
        let is_sooner = state.due.is_none_or(|known| due < known);
        if is_sooner {
            state.due = Some(due);
        }
        state.jobs.push_back(job);
        if state.jobs.len() >= STORE_QUEUE_CROWDED {
            self.is_crowded.store(true, Ordering::Relaxed);
        }
        is_sooner
    }

    /// Whether more is queued than can be written soon.
    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }

    /// All queued writes when they are due, up to a batch; none when the queue is closed and empty.
    pub(super) fn take(&self) -> Option<Vec<Box<dyn Job>>> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            state = match state.due {
                Some(due) if due <= now || state.is_closed => break,
                Some(due) => {
                    let waited = self.filled.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None if state.is_closed => return None,
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        let batch = state.jobs.len().min(STORE_BATCH);
        let jobs: Vec<Box<dyn Job>> = state.jobs.drain(..batch).collect();
        if !state.crowding.is_empty() {
            state.thin_out(&jobs);
        }
        if state.jobs.len() < STORE_QUEUE_CROWDED {
            self.is_crowded.store(false, Ordering::Relaxed);
        }
        state.crowd = batch;
        state.due = (!state.jobs.is_empty()).then(Instant::now);
        Some(jobs)
    }

    /// Refuses further writes; queued ones are still taken.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    /// Refuses further writes and drops the queued ones.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.jobs.clear();
    }

    /// How many writes have not been taken yet.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
