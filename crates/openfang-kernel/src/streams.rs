//! Following a task: its events in order, as they are stored. A slow reader holds up nobody, because it reads the log
//! at its own pace.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::event::{Seq, TaskEvent};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::STREAM_BATCH_EVENTS;
use openfang_types::task::{Task, TaskState};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Caller, Kernel, KernelError};

/// How many streams each owner has open.
#[derive(Default)]
pub(crate) struct OpenStreams {
    counts: Mutex<HashMap<Owner, usize>>,
}

/// One open stream; closes when it is dropped.
struct Slot {
    open: Arc<OpenStreams>,
    owner: Owner,
}

impl OpenStreams {
    fn take(self: &Arc<Self>, owner: &Owner, limit: usize) -> Result<Slot, KernelError> {
        let mut counts = self.lock();
        let count = counts.entry(owner.clone()).or_default();
        if *count >= limit {
            return Err(KernelError::TooManyStreams { limit });
        }
        *count += 1;
        Ok(Slot { open: Arc::clone(self), owner: owner.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.open.lock();
        if let Some(count) = counts.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.owner);
            }
        }
    }
}

/// Where a stream begins, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// After this event; without it the stream begins with the task as it stands.
    pub after: Option<Seq>,
    /// What ends it.
    pub until: Until,
}

/// What ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The end of the task.
    Ended,
    /// The end of the task, or its asking for something.
    Settled,
}

impl Until {
    const fn is_reached(self, state: TaskState) -> bool {
        match self {
            Self::Ended => state.is_terminal(),
            Self::Settled => state.is_terminal() || state.is_interrupted(),
        }
    }
}

/// What a stream shows.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// The task as it stands after this many events.
    Snapshot(Box<Task>, Seq),
    /// The next event.
    Event(Box<TaskEvent>),
    /// The server is stopping and nothing works on the task: follow it again later.
    Shutdown,
}

/// A task that is being followed.
pub struct TaskStream {
    kernel: Kernel,
    caller: Caller,
    id: TaskId,
    until: Until,
    after: Seq,
    waiting: VecDeque<StreamItem>,
    latest: watch::Receiver<Seq>,
    revoked: CancellationToken,
    is_over: bool,
    _slot: Slot,
}

impl Kernel {
    /// Follows one's own task.
    pub async fn follow(&self, caller: &Caller, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        let record = self.record(caller, id).await?;
        if from.after.is_some_and(|after| after > record.seq) {
            return Err(KernelError::NoSuchEvent { id, last: record.seq });
        }
        let owner = caller.principal.owner();
        let slot = self.inner.streams.take(owner, self.inner.config.limits.streams_per_owner)?;
        let latest = self.inner.stores.tasks.watch(owner, id).await?;
        let mut stream = TaskStream {
            kernel: self.clone(),
            caller: caller.clone(),
            id,
            until: from.until,
            after: from.after.unwrap_or(record.seq),
            waiting: VecDeque::new(),
            latest,
            revoked: self.revoked(caller),
            is_over: false,
            _slot: slot,
        };
        if from.after.is_none() {
            stream.is_over = from.until.is_reached(record.task.status.state);
            stream.waiting.push_back(StreamItem::Snapshot(Box::new(record.task), record.seq));
        }
        Ok(stream)
    }
}

impl TaskStream {
    /// The next item; none when the stream is over. Safe to drop at any time.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, KernelError> {
        loop {
            if self.revoked.is_cancelled() {
                return Err(KernelError::Revoked);
            }
            if let Some(item) = self.waiting.pop_front() {
                return Ok(Some(item));
            }
            if self.is_over {
                return Ok(None);
            }
            self.latest.mark_unchanged();
            self.fetch().await?;
            if self.waiting.is_empty() && !self.is_over {
                self.wait().await;
            }
        }
    }

    async fn fetch(&mut self) -> Result<(), KernelError> {
        let owner = self.caller.principal.owner();
        let tasks = &self.kernel.inner.stores.tasks;
        let events = tasks.events(owner, self.id, self.after, STREAM_BATCH_EVENTS).await?;
        for event in events {
            self.after = event.seq;
            let reached = event.body.state().is_some_and(|state| self.until.is_reached(state));
            self.waiting.push_back(StreamItem::Event(Box::new(event)));
            if reached {
                self.is_over = true;
                break;
            }
        }
        if self.waiting.is_empty() {
            // Whoever has seen the last event of a finished task has seen everything. The end may have come since the
            // events were read: then there is one more.
            let record = self.kernel.record(&self.caller, self.id).await?;
            self.is_over = record.task.status.state.is_terminal() && record.seq <= self.after;
        }
        Ok(())
    }

    async fn wait(&mut self) {
        let inner = Arc::clone(&self.kernel.inner);
        let id = self.id;
        // The server stops and nothing here works on the task, or does any more.
        let left_alone = async {
            inner.draining.cancelled().await;
            while let Some(live) = inner.live.get(id) {
                live.done.cancelled().await;
            }
        };
        tokio::select! {
            biased;
            () = self.revoked.cancelled() => {}
            changed = self.latest.changed() => self.is_over = changed.is_err(),
            () = left_alone => {
                self.waiting.push_back(StreamItem::Shutdown);
                self.is_over = true;
            }
        }
    }
}
