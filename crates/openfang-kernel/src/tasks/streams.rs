//! Following a task: its events in order, as they are stored. A slow reader holds up nobody, because it reads the log
//! at its own pace.
//!
//! Until something is asked for, a stream holds nothing of its task. What it then reads is little, or it waits for its
//! turn: a few streams of an owner at a time hold something large, until their readers have taken it.

use std::collections::VecDeque;
use std::sync::Arc;

use openfang_store::{EventsAfter, Fit, StoreError, Tail, TaskRecord};
use openfang_types::event::{Seq, StreamItem, TaskEvent, Until};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::{STREAM_BATCH_BYTES, STREAM_BATCH_EVENTS};
use openfang_types::task::{Message, Task};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use crate::access::answer_room::Reserved;
use crate::tasks::log::Visibility;
use crate::tasks::{Intake, Tasks};
use crate::{Caller, KernelError};

use slots::Slot;

pub(crate) use slots::OpenStreams;

mod slots;

/// Room for a stream of somebody's; given back when it is dropped.
pub struct StreamRoom {
    caller: Caller,
    slot: Slot,
}

/// Where a stream begins, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    pub begin: Begin,
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

/// Whether a stream may wait until it may hold something large.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    NotYet,
    Now,
}

/// A stream may hold something large for as long as it has this.
struct LargeTurn {
    _permit: Option<OwnedSemaphorePermit>,
    _room: Reserved,
}

/// A task that is being followed.
pub struct TaskStream {
    tasks: Tasks,
    caller: Caller,
    id: TaskId,
    until: Until,
    after: Seq,
    /// Where it begins, as long as the task was not read.
    opening: Option<Begin>,
    waiting: VecDeque<StreamItem>,
    /// What waits, or was handed out last, is large.
    large: Option<LargeTurn>,
    latest: watch::Receiver<Seq>,
    /// What is committed while the task is followed, in memory.
    tail: Option<Arc<Tail>>,
    /// Whether the task is known to have gone on after the last thing that was read of it.
    goes_on: bool,
    revoked: CancellationToken,
    is_over: bool,
    slot: Slot,
}

/// What became of a message whose task is to be followed.
pub enum FollowedReply {
    /// An answer that needed no task.
    Message(Message),
    /// What happens to the task.
    Stream(Box<TaskStream>),
}

impl Tasks {
    /// Room for one more stream of this caller's. Whoever begins something in order to follow it asks for it first, or
    /// what was begun would go on when there is none.
    pub(crate) fn room_for_a_stream(&self, caller: &Caller) -> Result<StreamRoom, KernelError> {
        let limit = self.inner.settings().config().limits.streams_per_owner;
        let slot = self.inner.streams.take(caller.principal.owner(), limit)?;
        Ok(StreamRoom { caller: caller.clone(), slot })
    }

    /// Sends a message and follows its task until the task has ended or asks for something. The stream begins with the task
    /// as it was before the work on the message, however soon the work ends.
    pub(crate) async fn send_and_follow(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<FollowedReply, KernelError> {
        // Asked for first: a message whose stream is refused begins nothing.
        let room = self.room_for_a_stream(caller)?;
        let id = match self.take(self.incoming(caller, agent, message, Visibility::Seen)).await? {
            Intake::Answered(message) => return Ok(FollowedReply::Message(message)),
            Intake::Known(id) => id,
            Intake::Begun(work) => {
                let id = work.id();
                if let Some((task, seq)) = work.detach() {
                    let stream = self.follow_shown(room, task, seq, Until::Settled).await?;
                    return Ok(FollowedReply::Stream(Box::new(stream)));
                }
                id
            }
        };
        let follow = Follow { begin: Begin::Now, until: Until::Settled };
        self.follow_in(room, id, follow)
            .await
            .map(|stream| FollowedReply::Stream(Box::new(stream)))
    }

    /// Follows one's own task.
    pub(crate) async fn follow(&self, caller: &Caller, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        let latest = self.latest(caller, id).await?;
        // What is not there is not there, however many streams are open.
        let room = self.room_for_a_stream(caller)?;
        self.begun(room, id, from, latest).await
    }

    /// Like [`Tasks::follow`], in room that was there before.
    pub(crate) async fn follow_in(
        &self,
        room: StreamRoom,
        id: TaskId,
        from: Follow,
    ) -> Result<TaskStream, KernelError> {
        let latest = self.latest(&room.caller, id).await?;
        self.begun(room, id, from, latest).await
    }

    /// A stream that has read what it begins with, unless that is large: then it is read when there is a reader for it.
    async fn begun(
        &self,
        room: StreamRoom,
        id: TaskId,
        from: Follow,
        latest: watch::Receiver<Seq>,
    ) -> Result<TaskStream, KernelError> {
        let mut stream = self.stream(room, id, from, latest)?;
        if let Some(begin) = stream.opening {
            stream.open(begin, Turn::NotYet).await?;
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
        // A large one is read again when there is a reader for it.
        let is_large = task.size() > STREAM_BATCH_BYTES;
        let begin = if is_large { Begin::AsOf(seq) } else { Begin::After(seq) };
        let mut stream = self.follow_in(room, task.id, Follow { begin, until }).await?;
        if !is_large {
            stream.show(task, seq);
        }
        Ok(stream)
    }

    /// The place of the last event of one's own task, now and from now on.
    async fn latest(&self, caller: &Caller, id: TaskId) -> Result<watch::Receiver<Seq>, KernelError> {
        self.is_known_to(caller, id).await?;
        match self.inner.store.watch(caller.principal.owner(), id).await {
            Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
            outcome => Ok(outcome?),
        }
    }

    fn stream(
        &self,
        room: StreamRoom,
        id: TaskId,
        from: Follow,
        latest: watch::Receiver<Seq>,
    ) -> Result<TaskStream, KernelError> {
        let StreamRoom { caller, slot } = room;
        let last = *latest.borrow();
        if from.begin.after().is_some_and(|after| after > last) {
            return Err(KernelError::NoSuchEvent { id, last });
        }
        let opening = match from.begin {
            // As it stands now, also when it is read later.
            Begin::Now => Some(Begin::AsOf(last)),
            Begin::AsOf(_) => Some(from.begin),
            Begin::After(_) => None,
        };
        Ok(TaskStream {
            tasks: self.clone(),
            revoked: self.inner.access.revoked(&caller),
            id,
            until: from.until,
            after: from.begin.after().unwrap_or_default(),
            opening,
            waiting: VecDeque::new(),
            large: None,
            latest,
            tail: self.inner.store.tail(caller.principal.owner(), id),
            goes_on: false,
            is_over: false,
            slot,
            caller,
        })
    }

    /// The task as it stood after an event. One that was folded stands as it ended.
    async fn as_of(&self, record: TaskRecord, seq: Seq) -> Result<(Task, Seq), KernelError> {
        if seq == record.seq {
            return Ok((record.task, record.seq));
        }
        let count = usize::try_from(seq).unwrap_or(usize::MAX);
        let events = self.inner.store.events(&record.owner, record.task.id, 0, count).await?;
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
        self.opening = None;
        self.after = seq;
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
            // What was handed out before has been taken.
            self.large = None;
            if self.is_over {
                return Ok(None);
            }
            if let Some(begin) = self.opening {
                self.open(begin, Turn::Now).await?;
                continue;
            }
            let latest = *self.latest.borrow_and_update();
            // Where many wait, reading the log only to find nothing new would be most of the work.
            if latest > self.after || !self.goes_on {
                self.fetch().await?;
            }
            if self.waiting.is_empty() && self.opening.is_none() && !self.is_over {
                self.wait().await;
            }
        }
    }

    /// For a reader that does not hold what it was given and may not come back soon: gives its turn back.
    pub(crate) fn rest(&mut self) {
        if self.waiting.is_empty() {
            self.large = None;
        }
    }

    /// Shows the task as it stands, or stood.
    async fn open(&mut self, begin: Begin, turn: Turn) -> Result<(), KernelError> {
        let owner = self.caller.principal.owner().clone();
        let tasks = self.tasks.clone();
        let store = &tasks.inner.store;
        let read = match store.get_within(&owner, self.id, STREAM_BATCH_BYTES).await {
            Err(StoreError::NotFound) => return Err(KernelError::UnknownTask(self.id)),
            read => read?,
        };
        let record = match read {
            Fit::Whole(record) => record,
            Fit::TooLarge(bytes) => {
                if turn == Turn::NotYet || !self.take_turn(bytes).await {
                    return Ok(());
                }
                match store.get(&owner, self.id).await {
                    Err(StoreError::NotFound) => return Err(KernelError::UnknownTask(self.id)),
                    record => record?,
                }
            }
        };
        let (task, seq) = match begin {
            Begin::Now | Begin::After(_) => (record.task, record.seq),
            Begin::AsOf(after) => tasks.as_of(record, after).await?,
        };
        self.show(task, seq);
        Ok(())
    }

    /// Waits until it may hold something large, of so many stored bytes; no if there is no point in it any more.
    async fn take_turn(&mut self, bytes: usize) -> bool {
        let inner = Arc::clone(&self.tasks.inner);
        let (slot, caller) = (&self.slot, &self.caller);
        let turn = async {
            let permit = slot.turn().await;
            loop {
                // The head of the answer is sent, so nobody is told to come back: the stream goes on waiting.
                if let Ok(room) = caller.reserve(bytes).await {
                    break LargeTurn { _permit: permit, _room: room };
                }
            }
        };
        tokio::select! {
            biased;
            turn = turn => self.large = Some(turn),
            () = self.revoked.cancelled() => return false,
            () = inner.life.draining().cancelled() => {
                self.stop();
                return false;
            }
        }
        true
    }

    fn stop(&mut self) {
        self.waiting.push_back(StreamItem::Shutdown);
        self.is_over = true;
    }

    /// Reads what came since: from memory if it is there, else from the store.
    async fn fetch(&mut self) -> Result<(), KernelError> {
        let recent = self.tail.as_ref().map(|tail| tail.after(self.after)).unwrap_or_default();
        if !recent.is_empty() {
            self.take(recent);
            return Ok(());
        }
        let owner = self.caller.principal.owner().clone();
        let tasks = self.tasks.clone();
        let store = &tasks.inner.store;
        let place = EventsAfter { after: self.after, limit: STREAM_BATCH_EVENTS, max_bytes: STREAM_BATCH_BYTES };
        let events = match store.events_within(&owner, self.id, place).await? {
            Fit::Whole(events) => events,
            Fit::TooLarge(max_bytes) => {
                if !self.take_turn(max_bytes).await {
                    return Ok(());
                }
                match store.events_within(&owner, self.id, EventsAfter { max_bytes, ..place }).await? {
                    Fit::Whole(events) => events,
                    // What is written is not written again longer.
                    Fit::TooLarge(_) => Vec::new(),
                }
            }
        };
        self.take(events);
        if self.waiting.is_empty() {
            let head = tasks.head(&self.caller, self.id).await?;
            let is_terminal = head.task.status.state.is_terminal();
            self.goes_on = !is_terminal;
            // Whoever has seen the last event of a finished task has seen everything. The end may have come since the
            // events were read: then there is one more. If there is none they were folded, and the task says it all.
            self.is_over = is_terminal && head.seq <= self.after;
            if is_terminal && !self.is_over {
                let one = EventsAfter { limit: 1, max_bytes: 0, ..place };
                let next = store.events_within(&owner, self.id, one).await?;
                if matches!(next, Fit::Whole(events) if events.is_empty()) {
                    self.opening = Some(Begin::Now);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, events: Vec<TaskEvent>) {
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
    }

    async fn wait(&mut self) {
        let inner = Arc::clone(&self.tasks.inner);
        let id = self.id;
        // The server stops and nothing here works on the task, or does any more.
        let left_alone = async {
            inner.life.draining().cancelled().await;
            while let Some(live) = inner.live.get(id) {
                live.done.cancelled().await;
            }
        };
        tokio::select! {
            biased;
            () = self.revoked.cancelled() => {}
            changed = self.latest.changed() => self.is_over = changed.is_err(),
            () = left_alone => self.stop(),
        }
    }
}
