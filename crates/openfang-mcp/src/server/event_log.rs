//! The messages of one stream, in order, for a reader that may be slow, go away and come back.
//!
//! A log [`Keeps::UntilRead`] is a queue. A log [`Keeps::ForReplay`] remembers the last of what was read, so that a
//! reader can resume after an event it names. Both are bounded: what may be left out is left out when the reader is
//! slow; what must arrive is taken, and whoever produces it waits for [`EventLog::room`] before the next.
//!
//! ```text
//! events:   1 ─ 2 ─ 3 ─ 4 ─ 5 ─ 6        finish: nothing follows
//!               └ kept ┘   └ unread ┘
//! a queue:  what was read goes           for replay: the last of it stays, up to a number of bytes
//! a reader: open ── reads on ──┬── the log is over and all was read ──> its end
//!             ^                └── it goes, or its connection is ended ─┐
//!             └────────── comes back, and names the last event it had ──┘
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use openfang_types::limits::{MCP_LOG_BYTES, MCP_LOG_EVENTS, MCP_REPLAY_BYTES, MCP_STREAMS_PER_SESSION};
use tokio::sync::Notify;

use super::outlet::{Outlet, Sent, Weight};
use super::shared::OwnerMemory;

/// What a log remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Nothing that was read.
    UntilRead,
    /// The last of what was read.
    ForReplay,
}

/// The messages of one stream.
pub(crate) struct EventLog {
    name: u64,
    keeps: Keeps,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<(u64, Bytes)>,
    /// The last event that was told; the first one is 1.
    last: u64,
    /// The last event that some reader took.
    read: u64,
    bytes: usize,
    is_over: bool,
    /// Counts the connections that were ended on purpose.
    connection: u64,
    readers: usize,
    /// Whether anybody ever read.
    was_read: bool,
    /// What is kept for replay is counted here.
    memory: Option<Arc<OwnerMemory>>,
}

impl EventLog {
    pub(crate) fn queue() -> Arc<Self> {
        Arc::new(Self { name: 0, keeps: Keeps::UntilRead, state: Mutex::default(), changed: Notify::new() })
    }

    /// A log that can be resumed. What it keeps counts for its owner.
    pub(crate) fn for_replay(name: u64, memory: Arc<OwnerMemory>) -> Arc<Self> {
        let mut state = State::default();
        state.memory = Some(memory);
        let state = Mutex::new(state);
        Arc::new(Self { name, keeps: Keeps::ForReplay, state, changed: Notify::new() })
    }

    /// The last message; nothing follows it.
    pub(crate) fn finish(&self, frame: Option<Bytes>) {
        if let Some(frame) = frame {
            self.send(frame, Weight::Heavy);
        }
        self.lock().is_over = true;
        self.changed.notify_waiters();
    }

    /// Whether nothing was told, and no connection ended.
    pub(crate) fn is_quiet(&self) -> bool {
        let state = self.lock();
        state.last == 0 && state.connection == 0
    }

    /// Returns when something was told, or the connection was ended.
    pub(crate) async fn stirred(&self) {
        self.until(|log| !log.is_quiet()).await;
    }

    /// Returns when the reader has caught up so far that more makes sense.
    pub(crate) async fn room(&self) {
        self.until(|log| !log.is_full()).await;
    }

    /// Whether the reader is so slow that more makes no sense.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.lock();
        state.last - state.read >= MCP_LOG_EVENTS as u64 || state.bytes >= MCP_LOG_BYTES
    }

    pub(crate) fn is_read(&self) -> bool {
        self.lock().readers > 0
    }

    /// Returns when it is so. Looks again at every change, and misses none.
    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }

    /// A reader of what comes after an event; none when what comes after it is forgotten. It takes the place of whoever
    /// reads: a message goes to one reader.
    pub(crate) fn reader(self: &Arc<Self>, after: u64) -> Option<EventReader> {
        let mut state = self.lock();
        let first = state.events.front().map_or(state.last + 1, |(seq, _)| *seq);
        if after > state.last || after + 1 < first {
            return None;
        }
        Some(self.take_over(&mut state, after))
    }

    /// A reader of what has not been read, in the place of whoever reads.
    pub(crate) fn next_reader(self: &Arc<Self>) -> EventReader {
        let mut state = self.lock();
        let after = state.read;
        self.take_over(&mut state, after)
    }

    fn take_over(self: &Arc<Self>, state: &mut State, at: u64) -> EventReader {
        state.connection += 1;
        state.begin_reading();
        self.changed.notify_waiters();
        EventReader { log: Arc::clone(self), at, connection: state.connection }
    }

    /// A reader of everything, on the first connection.
    pub(crate) fn from_the_beginning(self: &Arc<Self>) -> EventReader {
        self.lock().begin_reading();
        EventReader { log: Arc::clone(self), at: 0, connection: 0 }
    }

    /// A reader of what has not been read.
    pub(crate) fn tail(self: &Arc<Self>) -> EventReader {
        let mut state = self.lock();
        state.begin_reading();
        EventReader { log: Arc::clone(self), at: state.read, connection: state.connection }
    }

    /// The id under which a client resumes after an event.
    pub(crate) fn id_of(&self, seq: u64) -> String {
        format!("{}-{seq}", self.name)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget_first(&mut self) {
        if let Some((_, frame)) = self.events.pop_front() {
            self.bytes -= frame.len();
            if let Some(memory) = &self.memory {
                memory.forget(frame.len());
            }
        }
    }

    const fn begin_reading(&mut self) {
        self.readers += 1;
        self.was_read = true;
    }

    /// Gives memory back while the owner has too much of it: what was read first, then all of a log whose reader went
    /// away. Whoever comes back for that is told that it is gone.
    fn shed(&mut self) {
        let is_over = |state: &Self| state.memory.as_ref().is_some_and(|memory| memory.is_over());
        let is_abandoned = self.was_read && self.readers == 0;
        while is_over(self) && self.events.front().is_some_and(|(seq, _)| *seq <= self.read || is_abandoned) {
            self.forget_first();
        }
    }

    /// Forgets what was read beyond what is kept for replay.
    fn trim(&mut self, keeps: Keeps) {
        let is_too_much = |state: &Self| match keeps {
            Keeps::UntilRead => true,
            Keeps::ForReplay => state.events.len() > MCP_LOG_EVENTS || state.bytes > MCP_REPLAY_BYTES,
        };
        while self.events.front().is_some_and(|(seq, _)| *seq <= self.read) && is_too_much(self) {
            self.forget_first();
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.forget(self.bytes);
        }
    }
}

impl Outlet for EventLog {
    fn send(&self, frame: Bytes, weight: Weight) -> Sent {
        let mut state = self.lock();
        if state.is_over {
            return Sent::Gone;
        }
        state.trim(self.keeps);
        let is_full = state.last - state.read >= MCP_LOG_EVENTS as u64 || state.bytes + frame.len() > MCP_LOG_BYTES;
        if is_full && weight == Weight::Light {
            return Sent::Full;
        }
        state.last += 1;
        state.bytes += frame.len();
        let seq = state.last;
        if let Some(memory) = &state.memory {
            memory.keep(frame.len());
        }
        state.events.push_back((seq, frame));
        state.shed();
        drop(state);
        self.changed.notify_waiters();
        Sent::Taken
    }

    fn end_connection(&self) {
        // Nobody can come back for the rest of a queue.
        if self.keeps == Keeps::ForReplay {
            self.lock().connection += 1;
            self.changed.notify_waiters();
        }
    }
}

pub(crate) struct EventReader {
    log: Arc<EventLog>,
    at: u64,
    connection: u64,
}

impl Drop for EventReader {
    fn drop(&mut self) {
        let mut state = self.log.lock();
        state.readers -= 1;
        state.shed();
    }
}

impl EventReader {
    /// The next event; none when the stream is over or its connection was ended. Safe to drop at any time.
    pub(crate) async fn next(&mut self) -> Option<(u64, Bytes)> {
        let log = Arc::clone(&self.log);
        loop {
            let mut changed = std::pin::pin!(log.changed.notified());
            changed.as_mut().enable();
            match self.look() {
                Look::Event(seq, frame) => return Some((seq, frame)),
                Look::Over => return None,
                Look::Wait => changed.await,
            }
        }
    }

    /// The log that is read.
    pub(crate) fn log(&self) -> &EventLog {
        &self.log
    }

    /// The id under which a client resumes where this reader stands.
    pub(crate) fn place(&self) -> String {
        self.log.id_of(self.at)
    }

    fn look(&mut self) -> Look {
        let mut state = self.log.lock();
        if state.connection != self.connection {
            return Look::Over;
        }
        let place = state.events.partition_point(|(seq, _)| *seq <= self.at);
        let Some((seq, frame)) = state.events.get(place).map(|(seq, frame)| (*seq, frame.clone())) else {
            return if state.is_over { Look::Over } else { Look::Wait };
        };
        self.at = seq;
        state.read = state.read.max(seq);
        state.trim(self.log.keeps);
        drop(state);
        self.log.changed.notify_waiters();
        Look::Event(seq, frame)
    }
}

enum Look {
    Event(u64, Bytes),
    Over,
    Wait,
}

/// The streams of one session, by name. The oldest that are over go first.
pub(crate) struct Streams {
    state: Mutex<(u64, BTreeMap<u64, Arc<EventLog>>)>,
    memory: Arc<OwnerMemory>,
}

impl Streams {
    pub(crate) fn new(memory: Arc<OwnerMemory>) -> Self {
        Self { state: Mutex::default(), memory }
    }

    /// A stream that may be kept.
    pub(crate) fn prepare(&self) -> Arc<EventLog> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        EventLog::for_replay(state.0, Arc::clone(&self.memory))
    }

    /// Keeps a stream, so that it can be resumed.
    pub(crate) fn keep(&self, log: &Arc<EventLog>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1.insert(log.name, Arc::clone(log));
        if state.1.len() > MCP_STREAMS_PER_SESSION {
            let over = state.1.iter().find(|(_, log)| log.lock().is_over).map(|(name, _)| *name);
            let oldest = over.or_else(|| state.1.keys().next().copied());
            oldest.and_then(|name| state.1.remove(&name));
        }
    }

    /// The stream and the event in it that an id names.
    pub(crate) fn find(&self, id: &str) -> Option<EventReader> {
        let (name, seq) = id.split_once('-')?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let log = state.1.get(&name.parse().ok()?)?;
        log.reader(seq.parse().ok()?)
    }
}

#[cfg(test)]
#[path = "event_log_tests.rs"]
mod tests;
