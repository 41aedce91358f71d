//! Tasks in a bounded map. When it is full the task that finished first is evicted; a running task never is.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId, TaskName};
use openfang_types::limits::MEMORY_TASKS;
use openfang_types::principal::Door;
use openfang_types::task::{TaskParts, TaskState};
use tokio::sync::watch;

use super::kept_bytes::{KeptBytes, Kind};
use crate::tasks::rules::{self, StoredState};
use crate::{
    Append, Conversation, Created, EventsAfter, Fit, NewTask, Position, RemoteRecord, ResendKey, Retention,
    RetentionReport, Stamp, StoreError, StoreFuture, TaskPage, TaskQuery, TaskRecord, TaskStore,
};

use pushes::PushEntry;
use transcripts::Transcripts;

mod list;
mod pushes;
mod remotes;
mod transcripts;

#[derive(Default)]
pub struct MemoryTasks {
    inner: Mutex<Inner>,
    /// No other process can write here, so this never changes.
    nobody_else: watch::Sender<u64>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<TaskId, Entry>,
    by_message: HashMap<(Owner, AgentName, ResendKey), TaskId>,
    by_name: HashMap<(Owner, TaskName), TaskId>,
    finished: VecDeque<TaskId>,
    live: HashMap<Owner, usize>,
    transcripts: Transcripts,
    pushes_waiting: watch::Sender<u64>,
    kept: Arc<KeptBytes>,
}

struct Entry {
    record: TaskRecord,
    /// The profiles that narrow its creator.
    scope: Option<String>,
    door: Door,
    resend_key: ResendKey,
    cancel_requested: bool,
    events: Vec<TaskEvent>,
    bytes: u64,
    pushes: Vec<PushEntry>,
    remote: Option<RemoteRecord>,
    /// The agent's name for the conversation, which outlives `remote`.
    remote_context: Option<ContextId>,
    latest: watch::Sender<Seq>,
}

impl Entry {
    fn push(&mut self, body: EventBody, at: Timestamp) {
        self.record.task.apply(&body);
        self.record.seq += 1;
        self.events
            .push(TaskEvent { task_id: self.record.task.id, seq: self.record.seq, at, body });
    }

    fn stamp(&self) -> Stamp {
        Stamp { version: self.record.version, seq: self.record.seq }
    }

    const fn standing(&self) -> StoredState {
        StoredState { state: self.record.task.status.state, version: self.record.version }
    }

    fn position(&self) -> Position {
        Position { at: self.record.task.status.timestamp, id: self.record.task.id }
    }
}

impl Inner {
    fn own(&mut self, owner: &Owner, id: TaskId) -> Result<&mut Entry, StoreError> {
        self.entries
            .get_mut(&id)
            .filter(|entry| entry.record.owner == *owner)
            .ok_or(StoreError::NotFound)
    }

    fn create(&mut self, mut new: NewTask) -> Result<Created, StoreError> {
        rules::follow(TaskState::Submitted, &rules::states(&new.events))?;
        let key = (new.owner.clone(), new.agent.clone(), new.resend_key);
        if let Some(id) = self.by_message.get(&key).filter(|id| self.entries.contains_key(id)) {
            return Ok(Created::Known(*id));
        }
        let name = new.peer_name.clone().map(|name| (new.owner.clone(), name));
        if let Some(id) = name.as_ref().and_then(|name| self.by_name.get(name)) {
            return Ok(Created::Known(*id));
        }
        let live = self.live.get(&new.owner).copied().unwrap_or(0);
        if live >= new.live_limit {
            return Err(StoreError::TooManyLive { limit: new.live_limit });
        }
        if self.entries.contains_key(&new.id) {
            return Err(StoreError::Conflict);
        }
        let (owner, agent, context_id) = (new.owner.clone(), new.agent.clone(), new.context_id.clone());
        let conversation = Conversation { owner, agent, context_id };
        self.transcripts.check(&conversation, &new.transcript)?;
        self.make_room(&conversation)?;
        let (id, at, transcript) = (new.id, new.at, std::mem::take(&mut new.transcript));
        let entry = entry_of(new);
        let more = [(Kind::Tasks, entry.bytes), (Kind::Transcripts, transcripts::weight(&transcript))];
        self.kept.add(&entry.record.owner, &more)?;
        self.transcripts.append(conversation, transcript, id, at);
        let (record, stamp) = (entry.record.clone(), entry.stamp());
        *self.live.entry(record.owner.clone()).or_default() += 1;
        if !entry.pushes.is_empty() {
            self.wake_pushes();
        }
        self.by_message.insert(key, id);
        self.by_name.extend(name.map(|name| (name, id)));
        self.entries.insert(id, entry);
        if record.task.status.state.is_terminal() {
            self.finish(&record);
        }
        Ok(Created::New(stamp))
    }

    /// Lets a finished task go if there are too many. Nothing is forgotten of the conversation that goes on.
    fn make_room(&mut self, goes_on: &Conversation) -> Result<(), StoreError> {
        if self.entries.len() < MEMORY_TASKS {
            return Ok(());
        }
        let oldest = self.finished.pop_front().ok_or(StoreError::TooManyLive { limit: MEMORY_TASKS })?;
        if let Some(gone) = self.entries.remove(&oldest) {
            let record = gone.record;
            self.kept.book(&record.owner, Kind::Tasks, gone.bytes, 0);
            let conversation = record.conversation();
            let is_forgotten = conversation != *goes_on && !self.has_task(&conversation);
            if is_forgotten && let Some(bytes) = self.transcripts.remove(&conversation) {
                self.kept.book(&record.owner, Kind::Transcripts, bytes, 0);
            }
            if let Some(name) = record.peer_name {
                self.by_name.remove(&(record.owner.clone(), name));
            }
            self.by_message.remove(&(record.owner, record.task.agent, gone.resend_key));
        }
        Ok(())
    }

    fn has_task(&self, conversation: &Conversation) -> bool {
        self.entries.values().any(|entry| conversation.has(&entry.record))
    }

    fn append(&mut self, write: Append) -> Result<Stamp, StoreError> {
        let kept = Arc::clone(&self.kept);
        let entry = self.own(&write.owner, write.id)?;
        let state = entry.standing().append(write.version, &rules::states(&write.events))?;
        let conversation = entry.record.conversation();
        self.transcripts.check(&conversation, &write.transcript)?;
        let bytes = weight(&write.events);
        let more = [(Kind::Tasks, bytes), (Kind::Transcripts, transcripts::weight(&write.transcript))];
        // A terminal state is always written, or a task without room for it would run forever.
        match state.is_terminal() {
            true => more.iter().for_each(|(kind, bytes)| kept.book(&write.owner, *kind, 0, *bytes)),
            false => kept.add(&write.owner, &more)?,
        }
        self.transcripts.append(conversation, write.transcript, write.id, write.at);
        let entry = self.own(&write.owner, write.id)?;
        entry.bytes += bytes;
        let has_events = !write.events.is_empty();
        for body in write.events {
            entry.push(body, write.at);
        }
        entry.record.version += 1;
        entry.record.labels.join(&write.labels);
        entry.record.node = write.node.unwrap_or(entry.record.node);
        entry.door = write.door.unwrap_or(entry.door);
        entry.update_remote(write.remote);
        entry.latest.send_replace(entry.record.seq);
        let woken: usize = entry
            .pushes
            .iter_mut()
            .map(|push| usize::from(has_events && push.happened(write.at)))
            .sum();
        let (record, stamp) = (entry.record.clone(), entry.stamp());
        if state.is_terminal() {
            self.finish(&record);
        }
        if woken > 0 {
            self.wake_pushes();
        }
        Ok(stamp)
    }

    fn finish(&mut self, record: &TaskRecord) {
        self.finished.push_back(record.task.id);
        if let Some(live) = self.live.get_mut(&record.owner) {
            *live = live.saturating_sub(1);
            if *live == 0 {
                self.live.remove(&record.owner);
            }
        }
    }
}

/// The size of the events, as another store would write them.
fn weight(events: &[EventBody]) -> u64 {
    events
        .iter()
        .map(|event| serde_json::to_vec(event).map_or(0, |json| json.len() as u64))
        .sum()
}

fn entry_of(mut new: NewTask) -> Entry {
    let push = new
        .push
        .take()
        .map(|push| PushEntry::from_the_beginning(new.owner.clone(), new.id, push, new.at));
    let record = TaskRecord {
        task: new.task(),
        owner: new.owner.clone(),
        version: 1,
        seq: 0,
        labels: new.labels.clone(),
        trace: new.trace,
        origin: new.origin,
        peer_name: new.peer_name.clone(),
        created_at: new.at,
        node: new.node,
        attempt: 1,
    };
    let events = new.first_events();
    let mut entry = Entry {
        record,
        bytes: weight(&events),
        resend_key: new.resend_key,
        scope: new.scope.clone(),
        door: new.door,
        cancel_requested: false,
        events: Vec::new(),
        pushes: push.into_iter().collect(),
        remote: None,
        remote_context: None,
        latest: watch::Sender::new(0),
    };
    for body in events {
        entry.push(body, new.at);
    }
    entry.update_remote(new.remote);
    entry.latest.send_replace(entry.record.seq);
    entry
}

impl MemoryTasks {
    pub(crate) fn new(kept: Arc<KeptBytes>) -> Self {
        let inner = Inner { kept, ..Inner::default() };
        Self { inner: Mutex::new(inner), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ready<T: Send + 'static>(outcome: Result<T, StoreError>) -> StoreFuture<'static, T> {
    Box::pin(std::future::ready(outcome))
}

impl TaskStore for MemoryTasks {
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created> {
        ready(self.lock().create(new))
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        ready(self.lock().own(owner, id).map(|entry| entry.record.clone()))
    }

    fn get_within<'a>(&'a self, owner: &'a Owner, id: TaskId, max_bytes: usize) -> StoreFuture<'a, Fit<TaskRecord>> {
        ready(self.lock().own(owner, id).map(|entry| list::within(&entry.record, max_bytes)))
    }

    fn head<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        ready(self.lock().own(owner, id).map(|entry| list::parts(&entry.record, TaskParts::ROW)))
    }

    fn find<'a>(&'a self, owner: &'a Owner, name: &'a TaskName) -> StoreFuture<'a, TaskId> {
        let found = self.lock().by_name.get(&(owner.clone(), name.clone())).copied();
        ready(found.ok_or(StoreError::NotFound))
    }

    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage> {
        ready(Ok(self.lock().list(query)))
    }

    fn list_within<'a>(&'a self, query: &'a TaskQuery, max_bytes: usize) -> StoreFuture<'a, Fit<TaskPage>> {
        ready(Ok(list::page_within(self.lock().list(query), max_bytes)))
    }

    fn counts<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, BTreeMap<TaskState, u64>> {
        let inner = self.lock();
        let mut counts = BTreeMap::new();
        for entry in inner.entries.values().filter(|entry| entry.record.owner == *owner) {
            *counts.entry(entry.record.task.status.state).or_default() += 1;
        }
        ready(Ok(counts))
    }

    fn append(&self, write: Append) -> StoreFuture<'_, Stamp> {
        ready(self.lock().append(write))
    }

    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>> {
        let seen = usize::try_from(after).unwrap_or(usize::MAX); // the first event is number 1
        ready(
            self.lock()
                .own(owner, id)
                .map(|entry| entry.events.iter().skip(seen).take(limit).cloned().collect()),
        )
    }

    fn events_within<'a>(
        &'a self,
        owner: &'a Owner,
        id: TaskId,
        place: EventsAfter,
    ) -> StoreFuture<'a, Fit<Vec<TaskEvent>>> {
        ready(self.lock().own(owner, id).map(|entry| list::events_within(&entry.events, place)))
    }

    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>> {
        ready(self.lock().own(owner, id).map(|entry| entry.latest.subscribe()))
    }

    fn request_cancel<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, ()> {
        ready(self.lock().own(owner, id).map(|entry| entry.cancel_requested = true))
    }

    fn cancel_requests(&self, node: NodeId) -> StoreFuture<'_, Vec<TaskId>> {
        let inner = self.lock();
        let wanted = |entry: &&Entry| {
            entry.cancel_requested && entry.record.node == node && !entry.record.task.status.state.is_terminal()
        };
        let mut ids: Vec<TaskId> = inner.entries.values().filter(wanted).map(|entry| entry.record.task.id).collect();
        ids.sort_unstable();
        ready(Ok(ids))
    }

    fn scope(&self, id: TaskId) -> StoreFuture<'_, Option<String>> {
        let found = self.lock().entries.get(&id).map(|entry| entry.scope.clone());
        ready(found.ok_or(StoreError::NotFound))
    }

    fn door(&self, id: TaskId) -> StoreFuture<'_, Option<Door>> {
        let found = self.lock().entries.get(&id).map(|entry| Some(entry.door));
        ready(found.ok_or(StoreError::NotFound))
    }

    fn orphans<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<TaskRecord>> {
        let inner = self.lock();
        let lost = |entry: &&Entry| {
            let state = entry.record.task.status.state;
            !state.is_terminal() && !state.is_interrupted() && !living.contains(&entry.record.node)
        };
        let mut orphans: Vec<TaskRecord> =
            inner.entries.values().filter(lost).map(|entry| entry.record.clone()).collect();
        orphans.sort_unstable_by_key(|record| record.task.id);
        ready(Ok(orphans))
    }

    fn claim(&self, id: TaskId, version: u64, node: NodeId) -> StoreFuture<'_, Stamp> {
        let mut inner = self.lock();
        let entry = inner.entries.get_mut(&id).ok_or(StoreError::NotFound);
        ready(entry.and_then(|entry| {
            entry.standing().claim(version)?;
            entry.record.version += 1;
            entry.record.attempt += 1;
            entry.record.node = node;
            Ok(entry.stamp())
        }))
    }

    /// The map is already bounded and is gone with the process.
    fn retain(&self, _: Retention, _: Timestamp) -> StoreFuture<'_, RetentionReport> {
        ready(Ok(RetentionReport::default()))
    }

    fn elsewhere(&self) -> watch::Receiver<u64> {
        self.nobody_else.subscribe()
    }
}
