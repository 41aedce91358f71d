//! Reads tasks and events. Each function runs in one snapshot, so that a row and its events agree.

use jiff::Timestamp;
use openfang_types::event::{EventBody, Seq, TaskEvent};
use openfang_types::ids::{NodeId, Owner, TaskId, TaskName, TraceId};
use openfang_types::principal::Door;
use openfang_types::task::{Task, TaskParts};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{IS_LIVE, count, get, labels, name, origin, signed, text, time, uuid};
use super::heads::stored_bytes;
use crate::sqlite::{damaged, unavailable};
use crate::tasks::submitted;
use crate::{EventsAfter, Fit, StoreError, TaskRecord};

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str =
    "id, owner, agent, context_id, created_at, version, seq, labels, trace, node, attempt, folded, origin, peer_name,
     first";

/// The same columns without values that are too long, followed by their length and the row's number.
const COLUMNS_WITHIN: &str = "id, owner, agent, context_id, created_at, version, seq, labels, trace, node, attempt,
     CASE WHEN coalesce(octet_length(folded), 0) + coalesce(octet_length(first), 0) <= ?3 THEN folded END,
     origin, peer_name,
     CASE WHEN coalesce(octet_length(folded), 0) + coalesce(octet_length(first), 0) <= ?3 THEN first END,
     coalesce(octet_length(folded), 0) + coalesce(octet_length(first), 0), n";
const BYTES: usize = 15;
const N: usize = 16;

pub(super) fn own(connection: &Connection, owner: &Owner, id: TaskId) -> Result<TaskRecord, StoreError> {
    match own_within(connection, owner, id, usize::MAX)? {
        Fit::Whole(record) => Ok(record),
        Fit::TooLarge(_) => Err(damaged("a task that cannot be read")),
    }
}

/// An owner's task, unless it is too large. For a small task the limit costs no additional statement.
pub(super) fn own_within(
    connection: &Connection,
    owner: &Owner,
    id: TaskId,
    max_bytes: usize,
) -> Result<Fit<TaskRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS_WITHIN} FROM a2a_tasks WHERE id = ?1 AND owner = ?2");
    let values = params![id.as_uuid().into_bytes(), owner.as_str(), signed(max_bytes)];
    let found = each(connection, &sql, values, |row| {
        let task = match max_bytes.checked_sub(count(row, BYTES)?) {
            Some(left) => whole_within(connection, row, left)?,
            None => None,
        };
        match task {
            Some(task) => around(task, row).map(Fit::Whole),
            None => stored_bytes(connection, get(row, N)?, TaskParts::ALL).map(Fit::TooLarge),
        }
    })?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

/// An owner's task by the name its creator gave it.
pub(super) fn find(connection: &Connection, owner: &Owner, name: &TaskName) -> Result<TaskId, StoreError> {
    let sql = "SELECT id FROM a2a_tasks WHERE owner = ?1 AND peer_name = ?2";
    let found = each(connection, sql, [owner.as_str(), name.as_str()], |row| uuid(row, 0).map(TaskId::from_uuid))?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

/// The profiles that narrowed the creator of a task.
pub(super) fn scope(connection: &Connection, id: TaskId) -> Result<Option<String>, StoreError> {
    let sql = "SELECT scope FROM a2a_tasks WHERE id = ?1";
    let found = each(connection, sql, [id.as_uuid().into_bytes()], |row| get::<Option<String>>(row, 0))?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

/// How the newest message of a task came in. A word that is none is not known either.
pub(super) fn door(connection: &Connection, id: TaskId) -> Result<Option<Door>, StoreError> {
    let sql = "SELECT `door` FROM a2a_tasks WHERE id = ?1";
    let found = each(connection, sql, [id.as_uuid().into_bytes()], |row| get::<Option<String>>(row, 0))?;
    let word = found.into_iter().next().ok_or(StoreError::NotFound)?;
    Ok(word.as_deref().and_then(Door::from_word))
}

/// The tasks that a statement finds. It selects [`COLUMNS`] first.
pub(super) fn records(connection: &Connection, sql: &str, values: impl Params) -> Result<Vec<TaskRecord>, StoreError> {
    each(connection, sql, values, |row| record(connection, row))
}

/// The task of a row.
pub(super) fn numbered(connection: &Connection, n: i64) -> Result<Option<TaskRecord>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM a2a_tasks WHERE n = ?1");
    Ok(records(connection, &sql, [n])?.pop())
}

/// The results of a statement, read one by one.
pub(super) fn each<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query(values).map_err(unavailable)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn record(connection: &Connection, row: &Row<'_>) -> Result<TaskRecord, StoreError> {
    let task = whole_within(connection, row, usize::MAX)?.ok_or_else(|| damaged("a task that cannot be read"))?;
    around(task, row)
}

/// The task of a row with all its events; none if the further events are too large.
fn whole_within(connection: &Connection, row: &Row<'_>, max_bytes: usize) -> Result<Option<Task>, StoreError> {
    let id = TaskId::from_uuid(uuid(row, 0)?);
    let (created_at, seq) = (time(row, 4)?, count(row, 6)?);
    Ok(match row.get_ref(11).map_err(unavailable)? {
        ValueRef::Null => {
            let mut task = Task {
                id,
                context_id: name(row, 3)?,
                agent: name(row, 2)?,
                status: submitted(created_at),
                history: Vec::new(),
                artifacts: Vec::new(),
                transitions: Vec::new(),
            };
            let is_whole = fold(connection, &mut task, first_events(row, 14)?, FoldLimit { seq, max_bytes })?;
            is_whole.then_some(task)
        }
        _ => Some(serde_json::from_str(text(row, 11)?).map_err(|_| damaged("a task that cannot be read"))?),
    })
}

/// The fields of a row of [`COLUMNS`] outside the task itself.
pub(super) fn around(task: Task, row: &Row<'_>) -> Result<TaskRecord, StoreError> {
    Ok(TaskRecord {
        task,
        owner: name(row, 1)?,
        version: count(row, 5)?,
        seq: count(row, 6)?,
        labels: labels(row, 7)?,
        trace: TraceId::from_uuid(uuid(row, 8)?),
        origin: origin(row, 12)?,
        peer_name: get::<Option<String>>(row, 13)?.and_then(|name| name.parse().ok()),
        created_at: time(row, 4)?,
        node: NodeId::from_uuid(uuid(row, 9)?),
        attempt: count(row, 10)?,
    })
}

/// How far events are applied.
#[derive(Clone, Copy)]
struct FoldLimit {
    seq: Seq,
    max_bytes: usize,
}

/// Applies all events. There must be as many as the row says, without a gap. False if the events outside the row are
/// too large: SQLite knows the length of a value without reading it.
fn fold(connection: &Connection, task: &mut Task, first: Vec<EventBody>, until: FoldLimit) -> Result<bool, StoreError> {
    let FoldLimit { seq, max_bytes } = until;
    let mut applied = first.len() as Seq;
    first.into_iter().for_each(|body| task.take(body));
    if applied < seq {
        let sql = "SELECT seq, CASE WHEN octet_length(bodies) <= ?2 THEN bodies END, octet_length(bodies)
                   FROM a2a_task_events WHERE task = ?1 ORDER BY seq";
        let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
        let values = params![task.id.as_uuid().into_bytes(), signed(max_bytes)];
        let mut rows = statement.query(values).map_err(unavailable)?;
        let mut bytes = 0_usize;
        while let Some(row) = rows.next().map_err(unavailable)? {
            if count::<Seq>(row, 0)? != applied + 1 {
                return Err(damaged("a task without some of its events"));
            }
            bytes = bytes.saturating_add(count(row, 2)?);
            if bytes > max_bytes {
                return Ok(false);
            }
            for body in bodies(row, 1)? {
                task.take(body);
                applied += 1;
            }
        }
    }
    if applied == seq { Ok(true) } else { Err(damaged("a task without some of its events")) }
}

/// The events in the task's own row.
pub(super) fn first_events(row: &Row<'_>, column: usize) -> Result<Vec<EventBody>, StoreError> {
    let is_there = !matches!(row.get_ref(column).map_err(unavailable)?, ValueRef::Null);
    if is_there { bodies(row, column) } else { Ok(Vec::new()) }
}

pub(super) fn bodies(row: &Row<'_>, column: usize) -> Result<Vec<EventBody>, StoreError> {
    serde_json::from_str(text(row, column)?).map_err(|_| damaged("an event that cannot be read"))
}

/// The sequence number of the last event of an owner's task.
pub(super) fn seq(connection: &Connection, owner: &Owner, id: TaskId) -> Result<Seq, StoreError> {
    let sql = "SELECT seq FROM a2a_tasks WHERE id = ?1 AND owner = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let values = params![id.as_uuid().into_bytes(), owner.as_str()];
    let found = statement.query_row(values, |row| Ok(count(row, 0))).optional().map_err(unavailable)?;
    found.ok_or(StoreError::NotFound)?
}

/// The events after a sequence number.
pub(super) fn events(
    connection: &Connection,
    owner: &Owner,
    id: TaskId,
    after: Seq,
    limit: usize,
) -> Result<Vec<TaskEvent>, StoreError> {
    match events_within(connection, owner, id, EventsAfter { after, limit, max_bytes: usize::MAX })? {
        Fit::Whole(events) => Ok(events),
        Fit::TooLarge(_) => Err(damaged("an event that cannot be read")),
    }
}

/// The events after a sequence number. A row holds the events of one write; the first row may begin earlier. A row that
/// is too large is not read: SQLite knows its length.
pub(super) fn events_within(
    connection: &Connection,
    owner: &Owner,
    id: TaskId,
    place: EventsAfter,
) -> Result<Fit<Vec<TaskEvent>>, StoreError> {
    let EventsAfter { after, limit, max_bytes } = place;
    if after >= seq(connection, owner, id)? || limit == 0 {
        return Ok(Fit::Whole(Vec::new()));
    }
    let sql = "SELECT seq, at, octet_length(bodies), CASE WHEN octet_length(bodies) <= ?4 THEN bodies END
               FROM a2a_task_events
               WHERE task = ?1
               AND seq >= coalesce((SELECT max(seq) FROM a2a_task_events WHERE task = ?1 AND seq <= ?2), 0)
               ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let values = params![id.as_uuid().into_bytes(), signed(after) + 1, signed(limit), signed(max_bytes)];
    let mut rows = statement.query(values).map_err(unavailable)?;
    let (mut writes, mut bytes, mut left_out) = (Vec::new(), 0_usize, None);
    let mut first = None;
    while let Some(row) = rows.next().map_err(unavailable)? {
        first = first.or(Some(count(row, 0)?));
        let length: usize = count(row, 2)?;
        bytes = bytes.saturating_add(length);
        if bytes > max_bytes {
            left_out = Some(length);
            break;
        }
        writes.push(written(id, count(row, 0)?, time(row, 1)?, bodies(row, 3)?)?);
    }
    if first.is_none_or(|first: Seq| first > after + 1) {
        let sql = "SELECT created_at, first FROM a2a_tasks WHERE id = ?1";
        let first = each(connection, sql, [id.as_uuid().as_bytes()], |row| {
            written(id, 1, time(row, 0)?, first_events(row, 1)?)
        })?;
        writes.splice(..0, first);
    }
    let events: Vec<TaskEvent> = writes.into_iter().flatten().filter(|event| event.seq > after).take(limit).collect();
    Ok(match left_out {
        Some(length) if events.is_empty() => Fit::TooLarge(length),
        Some(_) | None => Fit::Whole(events),
    })
}

/// The events of one write.
fn written(task_id: TaskId, first: Seq, at: Timestamp, bodies: Vec<EventBody>) -> Result<Vec<TaskEvent>, StoreError> {
    Ok((first..).zip(bodies).map(|(seq, body)| TaskEvent { task_id, seq, at, body }).collect())
}

/// The tasks of a node that are to be canceled.
pub(super) fn cancel_requests(connection: &Connection, node: NodeId) -> Result<Vec<TaskId>, StoreError> {
    let mut ids = each(connection, &cancel_requests_sql(), [node.as_uuid().as_bytes()], |row| {
        uuid(row, 0).map(TaskId::from_uuid)
    })?;
    ids.sort_unstable();
    Ok(ids)
}

pub(super) fn cancel_requests_sql() -> String {
    format!(
        "SELECT id FROM a2a_tasks INDEXED BY a2a_tasks_live
         WHERE {IS_LIVE} AND node = ?1 AND cancel_requested = 1"
    )
}

/// The tasks whose node is dead, oldest first.
pub(super) fn orphans(connection: &Connection, living: &[NodeId]) -> Result<Vec<TaskRecord>, StoreError> {
    let running =
        each(connection, &running_sql(), [], |row| Ok((get::<i64>(row, 0)?, NodeId::from_uuid(uuid(row, 1)?))))?;
    let mut lost: Vec<i64> = running.into_iter().filter(|(_, node)| !living.contains(node)).map(|(n, _)| n).collect();
    lost.sort_unstable();
    let found = lost.into_iter().map(|n| numbered(connection, n));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn running_sql() -> String {
    format!(
        "SELECT n, node FROM a2a_tasks INDEXED BY a2a_tasks_live
         WHERE {IS_LIVE} AND state IN ('submitted', 'working')"
    )
}
