//! The log of one task while a run works on it. Events wait here until they must be on disk: before the first effect,
//! before anybody is told, or when the run has gone on for a while. So a quick call is one commit.
//!
//! ```text
//! Here ──┬── show, or an event that must be on disk ──> Stored ──── events are appended ──> Stored
//!        ├── the turn ends before anybody was told ───> HandedOver    (one commit, created with its end)
//!        └── the same message made another task ──────> Superseded    (nothing more is written)
//! ```
//!
//! A write whose run is dropped in the middle leaves its events as *uncertain*; the next write first asks the store whether
//! they are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openfang_runtime::answerer::{Ending, Inbox, RunEvent, TextDelta};
use openfang_runtime::context::DurablePoint;
use openfang_store::{NewTask, RemotePhase, RemoteRecord, Stamp, StoreError, StoreFuture, TranscriptItem};
use openfang_types::event::{ArtifactUpdate, EventBody, Seq};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::{TEXT_PACE, WATCH_OVER};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Artifact, Message, Part, Role, Task, TaskState};
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::tasks::Inner;
use crate::tasks::conversation::OpenTranscript;
use crate::tasks::text::WaitingText;
use writes::settle;

mod writes;

/// A task that a run works on.
pub(crate) struct TaskLog {
    inner: Arc<Inner>,
    owner: Owner,
    id: TaskId,
    log: Mutex<Log>,
    text: WaitingText,
    inbox: Inbox,
    /// Fires when every event is stored as it comes.
    seen: CancellationToken,
    is_handed_over: AtomicBool,
}

pub(super) struct Log {
    pub(super) task: Task,
    pub(super) labels: Labels,
    /// How a message came in that the run heard, if nobody counts as a person after it.
    pub(super) heard_at: Option<Door>,
    waiting: Vec<EventBody>,
    /// A write whose outcome was not waited for, because its run was dropped in the middle.
    uncertain: Option<UncertainWrite>,
    /// The remote side of the task, if an agent on another server works on it.
    remote: Option<RemoteRecord>,
    /// Whether the store has another one, or none.
    is_remote_unsaved: bool,
    /// The transcript of the conversation, if the run writes to it.
    pub(super) transcript: Option<Box<OpenTranscript>>,
    place: TaskStage,
    visibility: Visibility,
}

/// What a write holds that may or may not have happened.
struct UncertainWrite {
    events: Vec<EventBody>,
    items: Vec<TranscriptItem>,
    /// Whether it holds the remote side too.
    has_remote: bool,
}

/// Where the task is.
enum TaskStage {
    Here(Box<NewTask>),
    /// In the store, at this version.
    Stored(Stamp),
    /// Handed to the store together with its end; it is there, or was refused.
    HandedOver,
    /// The same message made another task, which is the one that counts.
    Superseded(TaskId),
}

/// Whether each event is stored as it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Nobody looks yet: events may wait.
    Unseen,
    Seen,
}

/// Why nothing more can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The same message made this other task.
    Superseded(TaskId),
    Refused(StoreError),
}

/// Where a conversation stands as a turn begins.
pub(crate) struct TurnSoFar {
    /// The number of user messages, the one of the turn included.
    pub(crate) number: usize,
    /// What was said before.
    pub(crate) history: Vec<Message>,
    /// What has entered the task.
    pub(crate) labels: Labels,
}

impl TaskLog {
    /// A task that is not stored yet.
    pub(super) fn begin(inner: Arc<Inner>, new: NewTask) -> Self {
        let mut task = new.task();
        new.first_events().into_iter().for_each(|event| task.take(event));
        let (owner, labels) = (new.owner.clone(), new.labels.clone());
        Self::new(inner, owner, task, labels, TaskStage::Here(Box::new(new)))
    }

    /// A task that is stored, and goes on.
    pub(super) fn resume(inner: Arc<Inner>, owner: Owner, task: Task, labels: Labels, stamp: Stamp) -> Self {
        Self::new(inner, owner, task, labels, TaskStage::Stored(stamp))
    }

    fn new(inner: Arc<Inner>, owner: Owner, task: Task, labels: Labels, place: TaskStage) -> Self {
        let id = task.id;
        let log = Log {
            task,
            labels,
            heard_at: None,
            waiting: Vec::new(),
            uncertain: None,
            remote: None,
            is_remote_unsaved: false,
            transcript: None,
            place,
            visibility: Visibility::Unseen,
        };
        Self {
            inner,
            owner,
            id,
            log: Mutex::new(log),
            text: WaitingText::default(),
            inbox: Inbox::default(),
            seen: CancellationToken::new(),
            is_handed_over: AtomicBool::new(false),
        }
    }

    /// The same, with its remote side as it is stored.
    #[must_use]
    pub(crate) fn with_remote(mut self, remote: Option<RemoteRecord>) -> Self {
        self.log.get_mut().remote = remote;
        self
    }

    /// The remote side of the task.
    pub(crate) async fn remote(&self) -> Option<RemoteRecord> {
        self.log.lock().await.remote.clone()
    }

    /// The task is stopped: the store is told with its end that the agent has to be told. None if nothing was sent yet.
    pub(crate) async fn cancel_remote(&self) -> Option<RemoteRecord> {
        let mut log = self.log.lock().await;
        if matches!(log.place, TaskStage::Here(_)) && log.uncertain.is_none() {
            log.remote = None;
        }
        let remote = log.remote.as_mut()?;
        remote.phase = RemotePhase::Canceling;
        let remote = remote.clone();
        log.is_remote_unsaved = true;
        Some(remote)
    }

    pub(crate) const fn id(&self) -> TaskId {
        self.id
    }

    pub(super) const fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    pub(super) const fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(super) async fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().await
    }

    /// The messages that arrive while the run works.
    pub(super) const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Returns when every event is stored as it comes.
    pub(crate) async fn seen(&self) {
        self.seen.cancelled().await;
    }

    /// Whether the store has the task and its end, so that nothing is left to do but to hear of it.
    pub(crate) fn is_handed_over(&self) -> bool {
        self.is_handed_over.load(Ordering::Relaxed)
    }

    /// The task as it stands here.
    pub(crate) async fn snapshot(&self) -> Task {
        self.log.lock().await.task.clone()
    }

    /// Where the conversation stands as a turn begins.
    pub(crate) async fn turn(&self) -> TurnSoFar {
        let log = self.log.lock().await;
        let history = &log.task.history;
        let number = history.iter().filter(|said| said.role == Role::User).count();
        // The message of the turn is the last one; a task that begins has no other.
        let before = history.len().saturating_sub(1);
        TurnSoFar { number, history: history[..before].to_vec(), labels: log.labels.clone() }
    }

    /// The task at the end of its turn, and what entered it. What is large is moved out: nobody needs it here again.
    pub(crate) async fn settled(&self) -> (Task, Labels) {
        let mut log = self.log.lock().await;
        let task = Task {
            id: self.id,
            context_id: log.task.context_id.clone(),
            agent: log.task.agent.clone(),
            status: log.task.status.clone(),
            history: std::mem::take(&mut log.task.history),
            artifacts: std::mem::take(&mut log.task.artifacts),
            transitions: std::mem::take(&mut log.task.transitions),
        };
        (task, std::mem::take(&mut log.labels))
    }

    /// Stores what waits, and from now on every event as it comes. Says after how many events the task stands.
    pub(crate) async fn show(&self) -> Result<Seq, Closed> {
        let mut log = self.log.lock().await;
        log.visibility = Visibility::Seen;
        self.seen.cancel();
        self.gather_text(&mut log);
        self.flush(&mut log).await?;
        match &log.place {
            TaskStage::Stored(stamp) => Ok(stamp.seq),
            TaskStage::Here(_) | TaskStage::HandedOver => Ok(0),
            TaskStage::Superseded(other) => Err(Closed::Superseded(*other)),
        }
    }

    /// Stores what waits, with what has entered the run by now.
    pub(super) async fn show_with(&self, entered: &Labels) -> Result<(), Closed> {
        self.log.lock().await.labels.join(entered);
        self.show().await.map(drop)
    }

    /// Keeps the remote side of the task, to be stored with what follows.
    pub(super) async fn remember(&self, remote: RemoteRecord) {
        let mut log = self.log.lock().await;
        log.remote = Some(remote);
        log.is_remote_unsaved = true;
    }

    /// Writes what could not be written, as soon as that is possible. A task that nobody was told of is forgotten.
    pub(crate) async fn write_when_possible(&self) {
        loop {
            tokio::time::sleep(WATCH_OVER).await;
            let mut log = self.log.lock().await;
            if matches!(log.place, TaskStage::Here(_) | TaskStage::HandedOver) {
                return;
            }
            match self.flush(&mut log).await {
                Err(Closed::Refused(StoreError::Unavailable { .. })) => {}
                Ok(()) | Err(_) => return,
            }
        }
    }

    /// Begins the work, unless a process before this one did.
    pub(crate) async fn working(&self) -> Result<(), Closed> {
        let mut log = self.log.lock().await;
        if log.task.status.state == TaskState::Working {
            return Ok(());
        }
        let status = self.inner.status(&log.task, TaskState::Working, Vec::new());
        log.add(EventBody::Status(status));
        self.flush_if_seen(&mut log).await
    }

    /// Writes the end of the turn.
    pub(crate) async fn end(&self, ending: Ending, entered: &Labels) -> Result<(), Closed> {
        let mut log = self.log.lock().await;
        self.gather_text(&mut log);
        log.labels.join(entered);
        let status = self.inner.status(&log.task, ending.state, ending.parts);
        log.add(EventBody::Status(status));
        let has_only_events = log.uncertain.is_none() && log.transcript.is_none();
        let written = match std::mem::replace(&mut log.place, TaskStage::HandedOver) {
            TaskStage::Here(new) if has_only_events => self.hand_over(&mut log, *new).await,
            place => {
                log.place = place;
                Box::pin(self.flush(&mut log)).await
            }
        };
        if written.is_ok() {
            // The next run of the conversation may begin.
            log.transcript = None;
        }
        written
    }

    /// Stores a task that has ended before anybody was told of it. It is not tried again, so nothing is kept for that.
    async fn hand_over(&self, log: &mut Log, new: NewTask) -> Result<(), Closed> {
        let events = std::mem::take(&mut log.waiting);
        let new = NewTask { events, labels: log.labels.clone(), remote: log.unsaved_remote(), ..new };
        let written = self.inner.store.create(new);
        // A turn that leaves the task open has more to do after the commit.
        self.is_handed_over.store(log.task.status.state.is_terminal(), Ordering::Relaxed);
        settle(log, written.await.map_err(Closed::Refused)?)
    }

    /// Tells something, with what has entered the run by now.
    pub(crate) async fn tell(&self, event: RunEvent, entered: &Labels) -> Result<(), Closed> {
        match self.add(event, entered).await {
            Some(mut log) => self.flush_if_seen(&mut log).await,
            None => Ok(()),
        }
    }

    /// Adds something, to be stored with what follows. None if it is text, which has its own pace.
    pub(super) async fn add(&self, event: RunEvent, entered: &Labels) -> Option<MutexGuard<'_, Log>> {
        let (mut log, body) = match event {
            RunEvent::Working(parts) => {
                let log = self.told_before(entered).await;
                let status = self.inner.status(&log.task, TaskState::Working, parts);
                (log, EventBody::Status(status))
            }
            RunEvent::Artifact(update) => (self.told_before(entered).await, EventBody::Artifact(update)),
            RunEvent::Text(delta) => {
                self.text.say(delta, entered).await;
                return None;
            }
        };
        log.add(body);
        Some(log)
    }

    /// The log with the text that was said so far, and what has entered the run by now.
    async fn told_before(&self, entered: &Labels) -> MutexGuard<'_, Log> {
        let mut log = self.log.lock().await;
        self.gather_text(&mut log);
        log.labels.join(entered);
        log
    }

    /// Commits the text that is said bit by bit, at its pace. Ends when nothing more can be written.
    pub(crate) async fn keep_text(&self) -> Closed {
        loop {
            self.text.arrived().await;
            let mut log = self.log.lock().await;
            self.gather_text(&mut log);
            if let Err(closed) = Box::pin(self.flush(&mut log)).await {
                return closed;
            }
            drop(log);
            tokio::time::sleep(TEXT_PACE).await;
        }
    }

    /// Makes events of the text that waits.
    fn gather_text(&self, log: &mut Log) {
        let Some(said) = self.text.take() else { return };
        log.labels.join(&said.labels);
        for TextDelta { artifact_id, name, text, begins, is_last } in said.pieces {
            let append = !begins && log.task.artifacts.iter().any(|held| held.artifact_id == artifact_id);
            let artifact = Artifact::of_parts(artifact_id, name, vec![Part::text(text)]);
            let body = EventBody::Artifact(ArtifactUpdate { artifact, append, last_chunk: is_last });
            log.add(body);
        }
    }

    async fn flush_if_seen(&self, log: &mut Log) -> Result<(), Closed> {
        match log.visibility {
            Visibility::Unseen => Ok(()),
            // Boxed: runs that wait are many, and would each have room for this in several places.
            Visibility::Seen => Box::pin(self.flush(log)).await,
        }
    }
}

impl Log {
    pub(super) fn add(&mut self, body: EventBody) {
        self.task.apply(&body);
        self.waiting.push(body);
    }

    /// What was not written waits again, before what came later.
    fn put_back(&mut self, uncertain: UncertainWrite) {
        let UncertainWrite { events, items, has_remote } = uncertain;
        let later = std::mem::replace(&mut self.waiting, events);
        self.waiting.extend(later);
        self.transcript.iter_mut().for_each(|open| open.put_back(items.clone()));
        self.is_remote_unsaved |= has_remote;
    }

    /// The remote side, if the store has another one.
    fn unsaved_remote(&self) -> Option<RemoteRecord> {
        self.remote.clone().filter(|_| self.is_remote_unsaved)
    }
}

impl DurablePoint for TaskLog {
    fn reach(&self) -> StoreFuture<'_, ()> {
        Box::pin(async {
            self.show().await.map(|_| ()).map_err(|closed| match closed {
                Closed::Superseded(_) => StoreError::Conflict,
                Closed::Refused(error) => error,
            })
        })
    }
}
