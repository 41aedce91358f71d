//! A queue of reads, and the threads that serve it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use openfang_types::background::lower_priority;
use openfang_types::limits::{BACKGROUND_NICENESS, STORE_QUEUE};
use rusqlite::Connection;

use super::serve;
use crate::StoreError;

/// The number of threads, and so of parallel reads. One per core is enough for the work; the others replace blocked
/// threads.
const READERS: usize = 8;
/// The same for large reads. They wait for each other, so that small reads do not wait for them.
const LARGE_READERS: usize = 2;
/// The number of queued reads per running thread before another one is woken.
const BEHIND: usize = 4;

/// The kind of reads in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Small,
    /// Reads that take long. Their threads have a low priority.
    Large,
}

impl Reads {
    const fn most_threads(self) -> usize {
        match self {
            Self::Small => READERS,
            Self::Large => LARGE_READERS,
        }
    }
}

/// The queued reads and the thread states.
pub(super) struct Queue {
    pub(super) path: PathBuf,
    reads: Reads,
    /// The number of running threads while nothing is blocked.
    usual: usize,
    state: Mutex<State>,
    filled: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(u64, Box<dyn Job>)>,
    /// The number of the next read.
    next: u64,
    threads: usize,
    /// Sleeping threads, and those of them that were told to wake up.
    asleep: usize,
    called: usize,
    is_closed: bool,
}

pub(super) trait Job: Send {
    fn run(self: Box<Self>, connection: Result<&Connection, StoreError>);
    fn is_awaited(&self) -> bool;
}

/// Which thread is to help.
enum Need {
    Nobody,
    Sleeper,
    Thread,
}

impl Queue {
    pub(super) fn new(path: PathBuf, reads: Reads) -> Self {
        let most = reads.most_threads();
        let usual = std::thread::available_parallelism().map_or(most, usize::from).clamp(2, most);
        Self { path, reads, usual, state: Mutex::default(), filled: Condvar::new(), threads: Mutex::default() }
    }

    /// Ends the threads after the queued reads.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // A read may have held the last reference; its thread ends by itself. A panic was already reported.
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }

    /// Queues a read and returns its number.
    pub(super) fn push(self: &Arc<Self>, job: Box<dyn Job>) -> Result<u64, StoreError> {
        let mut state = self.lock();
        if state.waiting.len() >= STORE_QUEUE {
            return Err(StoreError::Unavailable { why: "too many reads are waiting".to_owned() });
        }
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, job));
        let awake = state.threads - state.asleep + state.called;
        if awake == 0 || (awake < self.usual && state.waiting.len() > BEHIND * awake) {
            self.call(state)?;
        }
        Ok(number)
    }

    /// Wakes one more thread if the read with this number is still queued.
    pub(super) fn help(self: &Arc<Self>, number: u64) -> Result<(), StoreError> {
        let state = self.lock();
        let is_waiting = state.waiting.front().is_some_and(|(first, _)| *first <= number);
        if is_waiting { self.call(state) } else { Ok(()) }
    }

    /// Wakes a sleeping thread, or starts one more.
    fn call(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> Result<(), StoreError> {
        let need = state.need(self.reads.most_threads());
        drop(state);
        match need {
            Need::Nobody => {}
            Need::Sleeper => self.filled.notify_one(),
            Need::Thread => self.start().map_err(|error| StoreError::Unavailable { why: error.to_string() })?,
        }
        Ok(())
    }

    fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let queue = Arc::clone(self);
        let thread = std::thread::Builder::new().name("store-reader".to_owned());
        let body = move || {
            if queue.reads == Reads::Large {
                lower_priority(BACKGROUND_NICENESS);
            }
            serve(&queue);
        };
        match thread.spawn(body) {
            Ok(thread) => self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread),
            Err(error) => {
                let mut state = self.lock();
                state.threads -= 1;
                // The existing threads do the work.
                if state.threads == 0 {
                    state.waiting.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The next read, waiting if there is none; none when the queue is closed.
    pub(super) fn take(&self) -> Option<(u64, Box<dyn Job>)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            if state.is_closed {
                return None;
            }
            state.asleep += 1;
            while state.called == 0 && !state.is_closed {
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.called = state.called.saturating_sub(1);
            state.asleep -= 1;
        }
    }

    /// The next read, if it was queued before the read with this number.
    pub(super) fn take_before(&self, number: u64) -> Option<Box<dyn Job>> {
        let mut state = self.lock();
        state.waiting.front().filter(|(next, _)| *next < number)?;
        state.waiting.pop_front().map(|(_, job)| job)
    }

    pub(super) fn next_number(&self) -> u64 {
        self.lock().next
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn need(&mut self, most: usize) -> Need {
        if self.asleep > self.called {
            self.called += 1;
            return Need::Sleeper;
        }
        if self.threads < most {
            self.threads += 1;
            return Need::Thread;
        }
        Need::Nobody
    }
}
