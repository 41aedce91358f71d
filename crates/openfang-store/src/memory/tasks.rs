//! Tasks in a bounded map: when it is full the oldest finished one goes, in order of finishing; a live one never does.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{AgentName, MessageId, Owner, TaskId};
use openfang_types::limits::MEMORY_TASKS;
use openfang_types::task::{Task, TaskState, TaskStatus};
use tokio::sync::watch;

use crate::{Append, Created, NewTask, Position, StoreError, StoreFuture, TaskPage, TaskQuery, TaskRecord, TaskStore};

/// Tasks in memory.
#[derive(Default)]
pub struct MemoryTasks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<TaskId, Entry>,
    by_message: HashMap<(Owner, AgentName, MessageId), TaskId>,
    finished: VecDeque<TaskId>,
    live: HashMap<Owner, usize>,
}

struct Entry {
    record: TaskRecord,
    first_message: MessageId,
    events: Vec<TaskEvent>,
    latest: watch::Sender<Seq>,
}

impl Entry {
    fn push(&mut self, body: EventBody, at: Timestamp) {
        self.record.task.apply(&body);
        self.record.seq += 1;
        self.events
            .push(TaskEvent { task_id: self.record.task.id, seq: self.record.seq, at, body });
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

    fn create(&mut self, new: NewTask) -> Result<Created, StoreError> {
        let key = (new.owner.clone(), new.agent.clone(), new.message.message_id.clone());
        if let Some(entry) = self.by_message.get(&key).and_then(|id| self.entries.get(id)) {
            return Ok(Created::Known(entry.record.clone()));
        }
        let live = self.live.get(&new.owner).copied().unwrap_or(0);
        if live >= new.live_limit {
            return Err(StoreError::TooManyLive { limit: new.live_limit });
        }
        self.make_room()?;
        let id = new.id;
        let entry = entry_of(new);
        let record = entry.record.clone();
        *self.live.entry(record.owner.clone()).or_default() += 1;
        self.by_message.insert(key, id);
        self.entries.insert(id, entry);
        Ok(Created::New(record))
    }

    fn make_room(&mut self) -> Result<(), StoreError> {
        if self.entries.len() < MEMORY_TASKS {
            return Ok(());
        }
        let oldest = self.finished.pop_front().ok_or(StoreError::TooManyLive { limit: MEMORY_TASKS })?;
        if let Some(gone) = self.entries.remove(&oldest) {
            let record = gone.record;
            self.by_message.remove(&(record.owner, record.task.agent, gone.first_message));
        }
        Ok(())
    }

    fn append(&mut self, write: Append) -> Result<TaskRecord, StoreError> {
        let entry = self.own(&write.owner, write.id)?;
        let mut state = entry.record.task.status.state;
        for next in write.events.iter().filter_map(EventBody::state) {
            if !state.can_become(next) {
                return Err(StoreError::NotAllowed { from: state, to: next });
            }
            state = next;
        }
        if entry.record.version != write.version {
            return Err(StoreError::Conflict);
        }
        if entry.record.task.status.state.is_terminal() {
            return Err(StoreError::NotAllowed { from: state, to: state });
        }
        for body in write.events {
            entry.push(body, write.at);
        }
        entry.record.version += 1;
        entry.record.labels.join(&write.labels);
        entry.latest.send_replace(entry.record.seq);
        let record = entry.record.clone();
        if state.is_terminal() {
            self.finish(&record);
        }
        Ok(record)
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

    fn list(&self, query: &TaskQuery) -> TaskPage {
        let wanted = |record: &TaskRecord| {
            record.owner == query.owner
                && query.agent.as_ref().is_none_or(|agent| record.task.agent == *agent)
                && query.state.is_none_or(|state| record.task.status.state == state)
                && query.context_id.as_ref().is_none_or(|context| record.task.context_id == *context)
        };
        let mut rows: Vec<&Entry> = self.entries.values().filter(|entry| wanted(&entry.record)).collect();
        rows.sort_by_key(|entry| std::cmp::Reverse(entry.position()));
        let total = rows.len();
        let rest = rows.into_iter().filter(|entry| query.after.is_none_or(|after| entry.position() < after));
        let mut page: Vec<&Entry> = rest.take(query.limit + 1).collect();
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        TaskPage {
            next: page.last().filter(|_| more).map(|entry| entry.position()),
            tasks: page.into_iter().map(|entry| entry.record.clone()).collect(),
            total,
        }
    }
}

fn entry_of(new: NewTask) -> Entry {
    let first_message = new.message.message_id.clone();
    let status = TaskStatus { state: TaskState::Submitted, message: None, timestamp: new.at };
    let task = Task {
        id: new.id,
        context_id: new.context_id,
        agent: new.agent,
        status: status.clone(),
        history: Vec::new(),
        artifacts: Vec::new(),
    };
    let record = TaskRecord {
        task,
        owner: new.owner,
        version: 1,
        seq: 0,
        labels: new.labels,
        trace: new.trace,
        created_at: new.at,
    };
    let mut entry = Entry { record, first_message, events: Vec::new(), latest: watch::Sender::new(0) };
    entry.push(EventBody::Status(status), new.at);
    entry.push(EventBody::Message(new.message), new.at);
    entry.latest.send_replace(entry.record.seq);
    entry
}

impl MemoryTasks {
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

    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage> {
        ready(Ok(self.lock().list(query)))
    }

    fn append(&self, write: Append) -> StoreFuture<'_, TaskRecord> {
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

    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>> {
        ready(self.lock().own(owner, id).map(|entry| entry.latest.subscribe()))
    }
}
