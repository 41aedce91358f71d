//! The writes. The caller's thread prepares everything it can; the writer's thread runs a few statements. A write
//! checks first and changes afterwards, so that a refused write has changed nothing.

use std::sync::Arc;

use jiff::Timestamp;
use openfang_types::event::{EventBody, TaskEvent};
use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId, TaskName, TraceId};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, TaskState};
use rusqlite::{OptionalExtension as _, Params, Row, params};
use uuid::Uuid;

use super::columns::{HEAD_IN_FIRST, count, get, json, labels, labels_text, nanos, signed, state};
use super::transcripts::{self, NewItems, TranscriptEnd};
use super::{pushes, remotes};
use crate::sqlite::batch::{Batch, Counter};
use crate::sqlite::unavailable;
use crate::tasks::rules::StoredState;
use crate::tasks::{first_events, rules};
use crate::{Append, Conversation, Created, NewPush, NewTask, RemoteRecord, ResendKey, Stamp, StoreError, Tail};

/// The maximum size of the first events in the task's own row, so that the row still fits into a page.
const FIRST_BYTES: usize = 2048;

/// The columns of a new task.
pub(super) struct Creation {
    id: TaskId,
    owner: Owner,
    agent: AgentName,
    context_id: ContextId,
    resend_key: ResendKey,
    state: TaskState,
    status_at: i64,
    at: i64,
    events: usize,
    bodies: String,
    head: String,
    labels: String,
    scope: Option<String>,
    door: Door,
    trace: TraceId,
    origin: Origin,
    peer_name: Option<TaskName>,
    push: Option<NewPush>,
    remote: Option<RemoteRecord>,
    transcript: NewItems,
    node: NodeId,
    live_limit: usize,
}

impl Creation {
    pub(super) fn of(new: NewTask) -> Result<Self, StoreError> {
        let state = rules::follow(TaskState::Submitted, &rules::states(&new.events))?;
        let (owner, task, at) = (new.owner.clone(), new.id, new.at);
        let push = new.push.map(|config| NewPush { owner, task, config, limit: 1, at });
        let events = first_events(new.at, new.message, new.events);
        Ok(Self {
            id: new.id,
            owner: new.owner,
            agent: new.agent,
            context_id: new.context_id,
            resend_key: new.resend_key,
            state,
            status_at: nanos(last_status(&events).unwrap_or(new.at)),
            at: nanos(new.at),
            events: events.len(),
            head: head(&events)?.unwrap_or_default(),
            bodies: json(&events)?,
            labels: labels_text(&new.labels)?,
            scope: new.scope,
            door: new.door,
            trace: new.trace,
            origin: new.origin,
            peer_name: new.peer_name,
            push,
            remote: new.remote,
            transcript: NewItems::of(new.transcript)?,
            node: new.node,
            live_limit: new.live_limit,
        })
    }

    pub(super) fn run(self, batch: &mut Batch<'_>) -> Result<Created, StoreError> {
        let place = match self.check_limits(batch) {
            Ok(place) => place,
            Err(refused) => return self.known(batch)?.map(Created::Known).ok_or(refused),
        };
        if self.insert(batch)? == 0 {
            return self.known(batch)?.map(Created::Known).ok_or(StoreError::Conflict);
        }
        if self.first().is_none() {
            insert_events(batch, self.id, 1, self.at, &self.bodies)?;
        }
        let seq = self.events as u64;
        batch.change(&self.owner, Counter::Tasks(self.state), 1, signed(self.bodies.len()));
        batch.touch(self.id, seq);
        if let Some(place) = place {
            self.transcript.append(batch, &place, self.id, self.at)?;
        }
        if self.remote.is_some() {
            remotes::update(batch, self.id, self.remote.as_ref(), self.state)?;
        }
        // Most callers have no profile, and their tasks do not pay for it.
        if let Some(scope) = &self.scope {
            let sql = "UPDATE a2a_tasks SET scope = ?2 WHERE id = ?1";
            execute(batch, sql, params![self.id.as_uuid().into_bytes(), scope])?;
        }
        if let Some(push) = &self.push {
            pushes::insert(batch, push, 0, Some(push.at))?;
            batch.push_waits();
        }
        Ok(Created::New(Stamp { version: 1, seq }))
    }

    /// Where the transcript goes on, if nothing forbids the task.
    fn check_limits(&self, batch: &mut Batch<'_>) -> Result<Option<TranscriptEnd>, StoreError> {
        if batch.live(&self.owner)? >= signed(self.live_limit) {
            return Err(StoreError::TooManyLive { limit: self.live_limit });
        }
        let place = self.transcript.place(batch, || {
            let (owner, agent, context_id) = (self.owner.clone(), self.agent.clone(), self.context_id.clone());
            Ok(Conversation { owner, agent, context_id })
        })?;
        batch.check_room(&self.owner, signed(self.bodies.len() + self.transcript.bytes()))?;
        Ok(place)
    }

    /// The events, if they go into the task's own row.
    fn first(&self) -> Option<&str> {
        (self.bodies.len() <= FIRST_BYTES).then_some(self.bodies.as_str())
    }

    /// The agent's message, unless the row already has it.
    fn head(&self) -> &str {
        if self.first().is_some() && !self.head.is_empty() { HEAD_IN_FIRST } else { &self.head }
    }

    /// Inserts the row, unless its message, its id or its name exists already.
    fn insert(&self, batch: &Batch<'_>) -> Result<usize, StoreError> {
        let sql = "INSERT INTO a2a_tasks (id, owner, agent, context_id, state, status_at, created_at, version, seq,
                       origin, resend_key, node, attempt, labels, trace, peer_name, first, head, `door`)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10, ?11, 1, ?12, ?13, ?14, ?15, ?16, ?17)
                   ON CONFLICT DO NOTHING";
        let values = params![
            self.id.as_uuid().into_bytes(),
            self.owner.as_str(),
            self.agent.as_str(),
            self.context_id.as_str(),
            self.state.as_str(),
            self.status_at,
            self.at,
            signed(self.events),
            self.origin.as_str(),
            self.resend_key.as_bytes(),
            self.node.as_uuid().into_bytes(),
            self.labels,
            self.trace.as_uuid().into_bytes(),
            self.peer_name.as_ref().map(TaskName::as_str),
            self.first(),
            self.head(),
            self.door.as_str(),
        ];
        execute(batch, sql, values)
    }

    /// The task that the same message created before, or that has the name.
    fn known(&self, batch: &Batch<'_>) -> Result<Option<TaskId>, StoreError> {
        let sql = "SELECT id FROM a2a_tasks WHERE owner = ?1 AND agent = ?2 AND resend_key = ?3";
        let key = params![self.owner.as_str(), self.agent.as_str(), self.resend_key.as_bytes()];
        let mut found = find(batch, sql, key, |row| get(row, 0))?;
        if let (None, Some(name)) = (found, &self.peer_name) {
            let sql = "SELECT id FROM a2a_tasks WHERE owner = ?1 AND peer_name = ?2";
            found = find(batch, sql, [self.owner.as_str(), name.as_str()], |row| get(row, 0))?;
        }
        Ok(found.map(|id| TaskId::from_uuid(Uuid::from_bytes(id))))
    }
}

pub(super) struct Addition {
    owner: Owner,
    id: TaskId,
    version: u64,
    states: Vec<TaskState>,
    status_at: Option<i64>,
    events: usize,
    bodies: String,
    head: Option<String>,
    labels: Labels,
    remote: Option<RemoteRecord>,
    transcript: NewItems,
    node: Option<NodeId>,
    door: Option<Door>,
    at: i64,
    followed: Option<Followed>,
}

/// What those who follow the task are shown after the commit.
struct Followed {
    tail: Arc<Tail>,
    events: Vec<EventBody>,
    at: Timestamp,
}

/// The row of the task that is changed.
struct TaskRow {
    n: i64,
    standing: StoredState,
    seq: u64,
    status_at: i64,
    node: [u8; 16],
    labels: Option<String>,
}

impl Addition {
    /// The size of everything that is appended.
    pub(super) const fn bytes(&self) -> usize {
        self.bodies.len() + self.transcript.bytes()
    }

    pub(super) fn of(write: Append, tail: Option<Arc<Tail>>) -> Result<Self, StoreError> {
        Ok(Self {
            owner: write.owner,
            id: write.id,
            version: write.version,
            states: rules::states(&write.events),
            status_at: last_status(&write.events).map(nanos),
            events: write.events.len(),
            bodies: json(&write.events)?,
            head: head(&write.events)?,
            labels: write.labels,
            remote: write.remote,
            transcript: NewItems::of(write.transcript)?,
            node: write.node,
            door: write.door,
            at: nanos(write.at),
            followed: tail.map(|tail| Followed { tail, events: write.events, at: write.at }),
        })
    }

    pub(super) fn run(self, batch: &mut Batch<'_>) -> Result<Stamp, StoreError> {
        let target = self.target(batch)?.ok_or(StoreError::NotFound)?;
        let from = target.standing.state;
        let state = target.standing.append(self.version, &self.states)?;
        let place = self
            .transcript
            .place(batch, || transcripts::conversation_of(batch, &self.owner, target.n))?;
        let bytes = if self.events > 0 { signed(self.bodies.len()) } else { 0 };
        // A terminal state is always written, or a task without room for it would run forever.
        if !state.is_terminal() {
            batch.check_room(&self.owner, bytes + signed(self.transcript.bytes()))?;
        }
        let stamp = Stamp { version: self.version + 1, seq: target.seq + self.events as u64 };
        self.update(batch, &target, state, stamp)?;
        if self.events > 0 {
            insert_events(batch, self.id, signed(target.seq) + 1, self.at, &self.bodies)?;
            pushes::happened(batch, self.id, self.at)?;
        }
        if let Some(place) = place {
            self.transcript.append(batch, &place, self.id, self.at)?;
        }
        if self.remote.is_some() || state.is_terminal() {
            remotes::update(batch, self.id, self.remote.as_ref(), state)?;
        }
        if state != from {
            batch.change(&self.owner, Counter::Tasks(from), -1, 0);
        }
        batch.change(&self.owner, Counter::Tasks(state), i64::from(state != from), bytes);
        batch.touch(self.id, stamp.seq);
        if let Some(Followed { tail, events, at }) = self.followed {
            let event = |(body, seq)| TaskEvent { task_id: self.id, seq, at, body };
            batch.show(tail, events.into_iter().zip(target.seq + 1..).map(event).collect());
        }
        Ok(stamp)
    }

    fn target(&self, batch: &Batch<'_>) -> Result<Option<TaskRow>, StoreError> {
        let sql = "SELECT n, state, version, seq, status_at, node, labels FROM a2a_tasks WHERE id = ?1 AND owner = ?2";
        find(batch, sql, params![self.id.as_uuid().as_bytes(), self.owner.as_str()], |row| {
            Ok(TaskRow {
                n: get(row, 0)?,
                standing: StoredState { state: state(row, 1)?, version: count(row, 2)? },
                seq: count(row, 3)?,
                status_at: get(row, 4)?,
                node: get(row, 5)?,
                labels: self.joined_labels(row)?,
            })
        })
    }

    /// The labels to write, if there is a label or a source that the task does not carry yet.
    fn joined_labels(&self, row: &Row<'_>) -> Result<Option<String>, StoreError> {
        if self.labels.is_empty() {
            return Ok(None);
        }
        let held = labels(row, 6)?;
        if held.covers(&self.labels) {
            return Ok(None);
        }
        labels_text(&held.joined(&self.labels)).map(Some)
    }

    /// Most events change neither state nor node nor labels. Then no index is updated.
    fn update(&self, batch: &Batch<'_>, target: &TaskRow, to: TaskState, stamp: Stamp) -> Result<(), StoreError> {
        let (version, seq) = (signed(stamp.version), signed(stamp.seq));
        if self.head.is_none() && self.node.is_none() && self.door.is_none() && target.labels.is_none() {
            execute(
                batch,
                "UPDATE a2a_tasks SET version = ?2, seq = ?3 WHERE n = ?1",
                params![target.n, version, seq],
            )?;
            return Ok(());
        }
        let sql = "UPDATE a2a_tasks SET version = ?2, seq = ?3, state = ?4, status_at = ?5, node = ?6,
                   labels = coalesce(?7, labels), head = coalesce(?8, head),
                   `door` = coalesce(?9, `door`) WHERE n = ?1";
        let status_at = self.status_at.unwrap_or(target.status_at);
        let node = self.node.map_or(target.node, |node| node.as_uuid().into_bytes());
        let came_in = self.door.map(Door::as_str);
        let values = params![target.n, version, seq, to.as_str(), status_at, node, target.labels, self.head, came_in];
        execute(batch, sql, values)?;
        Ok(())
    }
}

/// Records the request for the node that works on the task.
pub(super) fn request_cancel(batch: &Batch<'_>, owner: &Owner, id: TaskId) -> Result<(), StoreError> {
    let sql = "UPDATE a2a_tasks SET cancel_requested = 1 WHERE id = ?1 AND owner = ?2";
    match execute(batch, sql, params![id.as_uuid().as_bytes(), owner.as_str()])? {
        0 => Err(StoreError::NotFound),
        _ => Ok(()),
    }
}

/// Takes a task over.
pub(super) fn claim(batch: &Batch<'_>, id: TaskId, version: u64, node: NodeId) -> Result<Stamp, StoreError> {
    let sql = "SELECT n, state, version, seq FROM a2a_tasks WHERE id = ?1";
    let found = find(batch, sql, [id.as_uuid().as_bytes()], |row| {
        let standing = StoredState { state: state(row, 1)?, version: count(row, 2)? };
        Ok((get::<i64>(row, 0)?, standing, count(row, 3)?))
    })?;
    let (n, standing, seq) = found.ok_or(StoreError::NotFound)?;
    standing.claim(version)?;
    let stamp = Stamp { version: version + 1, seq };
    let sql = "UPDATE a2a_tasks SET version = ?2, node = ?3, attempt = attempt + 1 WHERE n = ?1";
    execute(batch, sql, params![n, signed(stamp.version), node.as_uuid().as_bytes()])?;
    Ok(stamp)
}

fn insert_events(batch: &Batch<'_>, task: TaskId, seq: i64, at: i64, bodies: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO a2a_task_events (task, seq, at, bodies) VALUES (?1, ?2, ?3, ?4)";
    execute(batch, sql, params![task.as_uuid().as_bytes(), seq, at, bodies])?;
    Ok(())
}

/// The time of the last status event.
fn last_status(events: &[EventBody]) -> Option<Timestamp> {
    events.iter().rev().find_map(|event| match event {
        EventBody::Status(status) => Some(status.timestamp),
        EventBody::Message(_) | EventBody::Artifact(_) => None,
    })
}

/// The agent's message about the state after these events, for the column `head`; none if they do not change it.
fn head(events: &[EventBody]) -> Result<Option<String>, StoreError> {
    let said = events.iter().rev().find_map(|event| match event {
        EventBody::Status(status) => Some(status.message.as_ref()),
        // The previous message of the agent is part of the history from then on.
        EventBody::Message(_) => Some(None),
        EventBody::Artifact(_) => None,
    });
    said.map(head_of).transpose()
}

/// The column `head` for this message of the agent.
pub(super) fn head_of(said: Option<&Message>) -> Result<String, StoreError> {
    said.map_or_else(|| Ok(String::new()), json)
}

pub(super) fn execute(batch: &Batch<'_>, sql: &str, values: impl Params) -> Result<usize, StoreError> {
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)
}

/// The single row of a statement, if there is one.
pub(super) fn find<T>(
    batch: &Batch<'_>,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut statement = batch.connection.prepare_cached(sql).map_err(unavailable)?;
    let found = statement.query_row(values, |row| Ok(read(row))).optional();
    found.map_err(unavailable)?.transpose()
}
