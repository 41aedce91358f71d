//! Writes that wait, and when they are due.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openfang_types::limits::{STORE_BATCH, STORE_CROWD, STORE_GATHER, STORE_LINGER, STORE_QUEUE};

use super::Batch;
use crate::StoreError;

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    /// When they are written: at once if anybody waits for one of them, else a moment after the first came.
    due: Option<Instant>,
    /// How many came together last time.
    crowd: usize,
    is_closed: bool,
}

/// A write that waits its turn. It is answered after the commit.
pub(super) trait Job: Send {
    /// Does the work, and says so already when it failed.
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError>;
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
    fn is_awaited(&self) -> bool;
}

impl State {
    /// How long the next job may wait for company. Where many came together last time, as many are likely to come
    /// again: they share a sync. Whoever writes alone never waits.
    fn patience(&self, is_awaited: bool) -> Duration {
        let queued = self.jobs.len() + 1;
        match is_awaited {
            _ if queued >= STORE_BATCH => Duration::ZERO,
            false => STORE_LINGER,
            true if self.crowd >= STORE_CROWD && queued < self.crowd => STORE_GATHER,
            true => Duration::ZERO,
        }
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
        let now = Instant::now();
        let due = now + state.patience(job.is_awaited());
        let is_sooner = state.due.is_none_or(|known| due < known);
        if is_sooner {
            state.due = Some(due);
        }
        state.jobs.push_back(job);
        drop(state);
        if is_sooner {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Everything that waits, up to a batch, when it is due; none when the queue is closed and empty.
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
        let jobs = state.jobs.drain(..batch).collect();
        state.crowd = batch;
        state.due = (!state.jobs.is_empty()).then(Instant::now);
        Some(jobs)
    }

    /// Lets nothing more in; what is queued is still taken.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    /// Lets nothing more in, and lets go of what is queued.
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
