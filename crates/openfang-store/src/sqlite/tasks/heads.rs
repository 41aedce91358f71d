//! Reads tasks for a list: only their rows, and events only if the list includes their content.

use openfang_types::event::EventBody;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::task::{Message, Task, TaskParts, TaskStatus};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::columns::{HEAD_IN_FIRST, count, get, name, state, text, time, uuid};
use super::read::{around, bodies, each, first_events, numbered};
use crate::sqlite::{damaged, unavailable};
use crate::{StoreError, TaskRecord};

/// Those of `read::COLUMNS` at the same positions, except the long one; then those of the status.
const COLUMNS: &str =
    "id, owner, agent, context_id, created_at, version, seq, labels, trace, node, attempt, NULL, origin, peer_name,
     first, state, status_at, head, octet_length(folded), n";
const STATE: usize = 15;
const STATUS_AT: usize = 16;
const HEAD: usize = 17;
const FOLDED_BYTES: usize = 18;
const N: usize = 19;

/// The approximate size of these parts of a task. SQLite knows the length of a value without reading it.
pub(super) fn stored_bytes(connection: &Connection, n: i64, parts: TaskParts) -> Result<usize, StoreError> {
    let sql = match parts {
        TaskParts { history: false, artifacts: false, status_message: false } => return Ok(0),
        TaskParts { history: false, artifacts: false, status_message: true } => {
            "SELECT coalesce(octet_length(head), 0) FROM a2a_tasks WHERE n = ?1"
        }
        TaskParts { .. } => {
            "SELECT coalesce(octet_length(folded), 0) + coalesce(octet_length(first), 0)
                 + (SELECT coalesce(sum(octet_length(bodies)), 0) FROM a2a_task_events WHERE task = id)
             FROM a2a_tasks WHERE n = ?1"
        }
    };
    Ok(each(connection, sql, [n], |row| count(row, 0))?.pop().unwrap_or(0))
}

/// These parts of the task of a row.
pub(super) fn read(connection: &Connection, n: i64, parts: TaskParts) -> Result<Option<TaskRecord>, StoreError> {
    if parts.is_head() {
        let sql = format!("SELECT {COLUMNS} FROM a2a_tasks WHERE n = ?1");
        return Ok(each(connection, &sql, [n], |row| around(head(connection, row, parts)?, row))?.pop());
    }
    let mut record = numbered(connection, n)?;
    if let Some(record) = &mut record {
        record.task.keep(parts);
    }
    Ok(record)
}

/// An owner's task, from its row alone.
pub(super) fn own(connection: &Connection, owner: &Owner, id: TaskId) -> Result<TaskRecord, StoreError> {
    read(connection, number(connection, owner, id)?, TaskParts::ROW)?.ok_or(StoreError::NotFound)
}

fn number(connection: &Connection, owner: &Owner, id: TaskId) -> Result<i64, StoreError> {
    let sql = "SELECT n FROM a2a_tasks WHERE id = ?1 AND owner = ?2";
    let found = each(connection, sql, params![id.as_uuid().as_bytes(), owner.as_str()], |row| get(row, 0))?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

fn head(connection: &Connection, row: &Row<'_>, parts: TaskParts) -> Result<Task, StoreError> {
    let message = if parts.status_message { said(connection, row)? } else { None };
    Ok(Task {
        id: TaskId::from_uuid(uuid(row, 0)?),
        context_id: name(row, 3)?,
        agent: name(row, 2)?,
        status: TaskStatus { state: state(row, STATE)?, message, timestamp: time(row, STATUS_AT)? },
        history: Vec::new(),
        artifacts: Vec::new(),
        transitions: Vec::new(),
    })
}

/// The agent's message about the state.
fn said(connection: &Connection, row: &Row<'_>) -> Result<Option<Message>, StoreError> {
    if matches!(row.get_ref(HEAD).map_err(unavailable)?, ValueRef::Null) {
        return said_before(connection, row);
    }
    match text(row, HEAD)? {
        "" => Ok(None),
        HEAD_IN_FIRST => Ok(last_said(first_events(row, 14)?).flatten()),
        head => serde_json::from_str(head).map_err(|_| damaged("a message that cannot be read")),
    }
}

/// The same for tasks from before the column `head`: searches the events backwards for the latest message.
fn said_before(connection: &Connection, row: &Row<'_>) -> Result<Option<Message>, StoreError> {
    if get::<Option<i64>>(row, FOLDED_BYTES)?.is_some() {
        return Ok(numbered(connection, get(row, N)?)?.and_then(|record| record.task.status.message));
    }
    let sql = "SELECT bodies FROM a2a_task_events WHERE task = ?1 ORDER BY seq DESC";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query([uuid(row, 0)?.as_bytes()]).map_err(unavailable)?;
    while let Some(events) = rows.next().map_err(unavailable)? {
        if let Some(said) = last_said(bodies(events, 0)?) {
            return Ok(said);
        }
    }
    Ok(last_said(first_events(row, 14)?).flatten())
}

/// The agent's message after these events; none if they do not change it.
fn last_said(events: Vec<EventBody>) -> Option<Option<Message>> {
    events.into_iter().rev().find_map(|event| match event {
        EventBody::Status(status) => Some(status.message),
        EventBody::Message(_) => Some(None),
        EventBody::Artifact(_) => None,
    })
}
