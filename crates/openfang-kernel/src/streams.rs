//! Following a task: its events in order, as they are stored. A slow reader holds up nobody, because it reads the log
//! at its own pace.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_store::TaskRecord;
use openfang_types::event::{Seq, StreamItem, TaskEvent, Until};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::STREAM_BATCH_EVENTS;
use openfang_types::task::Task;
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

/// Room for a stream of somebody's; given back when it is dropped.
pub struct StreamRoom {
    caller: Caller,
    slot: Slot,
}

/// Where a stream begins, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// Where it begins.
    pub begin: Begin,
    /// What ends it.
    pub until: Until,
}

/// Where a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// With the task as it stands.
    Now,
    /// With what came after this event.
    After(Seq),
    /// With the task as it stood after this event, and then what came after it.
    AsOf(Seq),
}

impl Begin {
    const fn after(self) -> Option<Seq> {
        match self {
            Self::Now => None,
            Self::After(seq) | Self::AsOf(seq) => Some(seq),
        }
    }
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
    /// Whether the task is known to have gone on after the last thing that was read of it.
    goes_on: bool,
    revoked: CancellationToken,
    is_over: bool,
    _slot: Slot,
}

impl Kernel {
    /// Room for one more stream of this caller's. Whoever begins something in order to follow it asks for it first, or
    /// what was begun would go on when there is none.
    pub fn room_for_a_stream(&self, caller: &Caller) -> Result<StreamRoom, KernelError> {
        let limit = self.inner.config.limits.streams_per_owner;
        let slot = self.inner.streams.take(caller.principal.owner(), limit)?;
        Ok(StreamRoom { caller: caller.clone(), slot })
    }

    /// Follows one's own task.
    pub async fn follow(&self, caller: &Caller, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        let record = self.record(caller, id).await?;
        // What is not there is not there, however many streams are open.
        let room = self.room_for_a_stream(caller)?;
        self.followed(room, record, from).await
    }

    /// Like [`Kernel::follow`], in room that was there before.
    pub async fn follow_in(&self, room: StreamRoom, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        let record = self.record(&room.caller, id).await?;
        self.followed(room, record, from).await
    }

    async fn followed(&self, room: StreamRoom, record: TaskRecord, from: Follow) -> Result<TaskStream, KernelError> {
        let id = record.task.id;
        if from.begin.after().is_some_and(|after| after > record.seq) {
            return Err(KernelError::NoSuchEvent { id, last: record.seq });
        }
        let shown = match from.begin {
            Begin::Now => Some((record.task, record.seq)),
            Begin::After(_) => None,
            Begin::AsOf(after) => Some(self.as_of(record, after).await?),
        };
        let after = shown.as_ref().map_or_else(|| from.begin.after().unwrap_or_default(), |(_, seq)| *seq);
        let mut stream = self.stream(room, id, after, from.until).await?;
        if let Some((task, seq)) = shown {
            stream.show(task, seq);
        }
        Ok(stream)
    }

    /// Follows a task that was just begun, from what its maker is shown first.
    pub(crate) async fn follow_shown(
        &self,
        room: StreamRoom,
        task: Task,
        seq: Seq,
        until: Until,
    ) -> Result<TaskStream, KernelError> {
        let mut stream = self.stream(room, task.id, seq, until).await?;
        stream.show(task, seq);
        Ok(stream)
    }

    async fn stream(&self, room: StreamRoom, id: TaskId, after: Seq, until: Until) -> Result<TaskStream, KernelError> {
        let StreamRoom { caller, slot } = room;
        let latest = self.inner.stores.tasks.watch(caller.principal.owner(), id).await?;
        Ok(TaskStream {
            kernel: self.clone(),
            revoked: self.revoked(&caller),
            caller,
            id,
            until,
            after,
            waiting: VecDeque::new(),
            latest,
            goes_on: false,
            is_over: false,
            _slot: slot,
        })
    }

    /// The task as it stood after an event. One that was folded stands as it ended.
    async fn as_of(&self, record: TaskRecord, seq: Seq) -> Result<(Task, Seq), KernelError> {
        if seq == record.seq {
            return Ok((record.task, record.seq));
        }
        let count = usize::try_from(seq).unwrap_or(usize::MAX);
        let events = self.inner.stores.tasks.events(&record.owner, record.task.id, 0, count).await?;
        if events.len() < count {
            return Ok((record.task, record.seq));
        }
        let mut task = record.task;
        task.begin_again(record.created_at);
        events.iter().for_each(|TaskEvent { body, .. }| task.apply(body));
        Ok((task, seq))
    }
}

impl TaskStream {
    fn show(&mut self, task: Task, seq: Seq) {
        self.is_over = self.until.is_reached(task.status.state);
        self.goes_on = !task.status.state.is_terminal();
        self.waiting.push_back(StreamItem::Snapshot(Box::new(task), seq));
    }

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
            let latest = *self.latest.borrow_and_update();
            // Where many wait, reading the log only to find nothing new would be most of the work.
            if latest > self.after || !self.goes_on {
                self.fetch().await?;
            }
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
            let state = event.body.state();
            let reached = state.is_some_and(|state| self.until.is_reached(state));
            self.goes_on = state.map_or(self.goes_on, |state| !state.is_terminal());
            self.waiting.push_back(StreamItem::Event(Box::new(event)));
            if reached {
                self.is_over = true;
                break;
            }
        }
        if self.waiting.is_empty() {
            let record = self.kernel.record(&self.caller, self.id).await?;
            let is_terminal = record.task.status.state.is_terminal();
            self.goes_on = !is_terminal;
            // Whoever has seen the last event of a finished task has seen everything. The end may have come since the
            // events were read: then there is one more. If there is none they were folded, and the task says it all.
            self.is_over = is_terminal && record.seq <= self.after;
            if is_terminal && !self.is_over && tasks.events(owner, self.id, self.after, 1).await?.is_empty() {
                self.after = record.seq;
                self.show(record.task, record.seq);
            }
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
