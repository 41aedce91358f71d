//! Retention: finished tasks are folded into their rows after a while, and evicted when there are too many or they are
//! too old. A transcript is deleted with the last task of its conversation, or when it is old itself. Readers find the work; the writer gets a few tasks at a time, so that nobody waits long.

use jiff::Timestamp;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::task::TaskState;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::columns::{FINISHED, get, json, name, nanos_before, signed, state, uuid};
use super::read::{COLUMNS, each, records};
use super::remotes;
use super::transcripts::{delete_idle, delete_with_last_task};
use super::write::head_of;
use crate::sqlite::batch::{Batch, Counter};
use crate::sqlite::{Sqlite, unavailable};
use crate::{Retention, RetentionReport, StoreError, TaskRecord};

/// Tasks in one transaction.
const CHUNK_TASKS: usize = 64;
/// Bytes in one transaction; a single task may have more.
const CHUNK_BYTES: usize = 1024 * 1024;
/// Tasks read at a time, most of which may be too young.
const LOOKED_AT: usize = 1_000;

pub(super) async fn retain(sqlite: &Sqlite, rule: Retention, now: Timestamp) -> Result<RetentionReport, StoreError> {
    let evicted = evict_all(sqlite, rule, now).await?;
    let idle = delete_idle(sqlite, nanos_before(now, rule.transcripts_for)).await?;
    let folded = fold_all(sqlite, nanos_before(now, rule.fold_after)).await?;
    Ok(RetentionReport { evicted: evicted.tasks, folded, transcripts: evicted.transcripts + idle })
}

/// How much was deleted with finished tasks.
#[derive(Default)]
struct EvictedNumber {
    tasks: usize,
    transcripts: usize,
}

/// A finished task to be evicted.
struct ExpiredTask {
    id: [u8; 16],
    owner: Owner,
    state: TaskState,
}

async fn evict_all(sqlite: &Sqlite, rule: Retention, now: Timestamp) -> Result<EvictedNumber, StoreError> {
    let cutoff = nanos_before(now, rule.finished_for);
    let mut evicted = EvictedNumber::default();
    loop {
        let expired = sqlite
            .read(move |connection| expired(connection, rule.finished_per_owner, cutoff))
            .await?;
        if expired.is_empty() {
            return Ok(evicted);
        }
        let some = sqlite.write(move |batch| evict(batch, &expired)).await?;
        evicted.tasks += some.tasks;
        evicted.transcripts += some.transcripts;
    }
}

/// Some of the tasks beyond the limits, the oldest of each owner first.
fn expired(connection: &Connection, per_owner: usize, cutoff: i64) -> Result<Vec<ExpiredTask>, StoreError> {
    let sql = oldest_finished_sql();
    let mut expired = Vec::new();
    for (owner, finished) in finished_by_owner(connection)? {
        let mut too_many = finished.saturating_sub(signed(per_owner));
        let room = CHUNK_TASKS - expired.len();
        let rows = each(connection, &sql, params![owner.as_str(), signed(room)], |row| {
            Ok((get(row, 0)?, state(row, 1)?, get::<i64>(row, 2)?))
        })?;
        for (id, state, status_at) in rows {
            if too_many <= 0 && status_at >= cutoff {
                break;
            }
            too_many -= 1;
            expired.push(ExpiredTask { id, owner: owner.clone(), state });
        }
        if expired.len() == CHUNK_TASKS {
            break;
        }
    }
    Ok(expired)
}

fn finished_by_owner(connection: &Connection) -> Result<Vec<(Owner, i64)>, StoreError> {
    let states = FINISHED.map(|state| format!("'{state}'")).join(", ");
    let sql = format!("SELECT owner, sum(n) FROM task_counts WHERE state IN ({states}) GROUP BY owner");
    each(connection, &sql, [], |row| Ok((name(row, 0)?, get(row, 1)?)))
}

fn oldest_finished_sql() -> String {
    let ranges = FINISHED.map(|state| {
        format!(
            "SELECT id, state, status_at FROM a2a_tasks INDEXED BY a2a_tasks_by_state
             WHERE owner = ?1 AND state = '{state}'"
        )
    });
    format!("{} ORDER BY status_at, id LIMIT ?2", ranges.join(" UNION ALL "))
}

/// Tasks that another process has evicted meanwhile are not counted twice.
fn evict(batch: &mut Batch<'_>, expired: &[ExpiredTask]) -> Result<EvictedNumber, StoreError> {
    let sql = "DELETE FROM a2a_tasks WHERE id = ?1 AND state = ?2 RETURNING agent, context_id";
    let (mut evicted, mut transcript_bytes) = (EvictedNumber::default(), 0);
    for ExpiredTask { id, owner, state } in expired {
        let bytes = weight(batch.connection, id)?;
        let deleted = each(batch.connection, sql, params![id, state.as_str()], |row| {
            // A task with a damaged name goes too.
            Ok([0, 1].map(|column| get::<String>(row, column).unwrap_or_default()))
        })?;
        for [agent, context] in deleted {
            delete_events(batch, id)?;
            delete_pushes(batch, id)?;
            remotes::delete(batch, TaskId::from_uuid(Uuid::from_bytes(*id)))?;
            batch.change(owner, Counter::Tasks(*state), -1, -bytes);
            evicted.tasks += 1;
            if let Some(bytes) = delete_with_last_task(batch, owner, [&agent, &context])? {
                evicted.transcripts += 1;
                transcript_bytes += bytes;
            }
        }
        // The other tasks are found again.
        if transcript_bytes >= signed(CHUNK_BYTES) {
            break;
        }
    }
    Ok(evicted)
}

/// The bytes that a task counts for: all its events.
fn weight(connection: &Connection, task: &[u8; 16]) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(octet_length(first), 0) + coalesce(octet_length(folded), 0)
                   + coalesce((SELECT sum(octet_length(bodies)) FROM a2a_task_events WHERE task = id), 0)
               FROM a2a_tasks WHERE id = ?1";
    Ok(each(connection, sql, [task], |row| get(row, 0))?.pop().unwrap_or_default())
}

fn delete_events(batch: &Batch<'_>, task: &[u8; 16]) -> Result<(), StoreError> {
    let statement = batch.connection.prepare_cached("DELETE FROM a2a_task_events WHERE task = ?1");
    statement.and_then(|mut statement| statement.execute([task])).map_err(unavailable)?;
    Ok(())
}

fn delete_pushes(batch: &Batch<'_>, task: &[u8; 16]) -> Result<(), StoreError> {
    let statement = batch.connection.prepare_cached("DELETE FROM push_configs WHERE task = ?1");
    statement.and_then(|mut statement| statement.execute([task])).map_err(unavailable)?;
    Ok(())
}

/// A finished task in its folded form.
struct FoldedTask {
    id: [u8; 16],
    owner: Owner,
    state: TaskState,
    version: u64,
    text: String,
    head: String,
}

/// Finished tasks that are old enough, and where to continue.
struct RestedTasks {
    tasks: Vec<FoldedTask>,
    next: Option<Uuid>,
}

async fn fold_all(sqlite: &Sqlite, cutoff: i64) -> Result<usize, StoreError> {
    let mut folded = 0;
    let mut place = Some(Uuid::nil());
    while let Some(after) = place {
        let rested = sqlite.read(move |connection| rested(connection, after, cutoff)).await?;
        place = rested.next;
        if !rested.tasks.is_empty() {
            folded += sqlite.write(move |batch| fold(batch, &rested.tasks)).await?;
        }
    }
    Ok(folded)
}

/// Only unfolded tasks have event rows, and ids grow with time. So the walk along the events finds the oldest tasks
/// first and ends at the first task that was created after the cutoff.
fn rested(connection: &Connection, mut after: Uuid, cutoff: i64) -> Result<RestedTasks, StoreError> {
    let next_sql = "SELECT task FROM a2a_task_events WHERE task > ?1 ORDER BY task LIMIT 1";
    let (mut tasks, mut bytes) = (Vec::new(), 0);
    for _ in 0..LOOKED_AT {
        let Some(id) = each(connection, next_sql, [after.as_bytes()], |row| uuid(row, 0))?.pop() else {
            return Ok(RestedTasks { tasks, next: None });
        };
        after = id;
        match age(connection, id, cutoff)? {
            Age::MadeLater => return Ok(RestedTasks { tasks, next: None }),
            Age::Busy => {}
            Age::Rested => tasks.extend(folded(connection, id)?.inspect(|task| bytes += task.text.len())),
        }
        if tasks.len() == CHUNK_TASKS || bytes >= CHUNK_BYTES {
            break;
        }
    }
    Ok(RestedTasks { tasks, next: Some(after) })
}

enum Age {
    /// Running, or finished after the cutoff.
    Busy,
    /// Finished before the cutoff.
    Rested,
    /// Made after the cutoff.
    MadeLater,
}

fn age(connection: &Connection, id: Uuid, cutoff: i64) -> Result<Age, StoreError> {
    let sql = "SELECT state, status_at, created_at FROM a2a_tasks WHERE id = ?1";
    let ages = each(connection, sql, [id.as_bytes()], |row| {
        let is_finished = state(row, 0)?.is_terminal() && get::<i64>(row, 1)? < cutoff;
        let is_later = get::<i64>(row, 2)? >= cutoff;
        Ok(if is_later {
            Age::MadeLater
        } else if is_finished {
            Age::Rested
        } else {
            Age::Busy
        })
    })?;
    Ok(ages.into_iter().next().unwrap_or(Age::Busy))
}

/// One unreadable task must not block the folding of all others.
fn folded(connection: &Connection, id: Uuid) -> Result<Option<FoldedTask>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM a2a_tasks WHERE id = ?1");
    match records(connection, &sql, [id.as_bytes()]) {
        Ok(mut records) => records.pop().map(|record| folded_of(&record)).transpose(),
        Err(error) => {
            tracing::warn!(task = %id, %error, "a task could not be folded");
            Ok(None)
        }
    }
}

fn folded_of(record: &TaskRecord) -> Result<FoldedTask, StoreError> {
    let id = record.task.id.as_uuid().into_bytes();
    let head = head_of(record.task.status.message.as_ref())?;
    let (owner, state) = (record.owner.clone(), record.task.status.state);
    Ok(FoldedTask { id, owner, state, version: record.version, text: json(&record.task)?, head })
}

/// A finished task does not change, but another process may have folded or evicted it.
fn fold(batch: &mut Batch<'_>, tasks: &[FoldedTask]) -> Result<usize, StoreError> {
    let sql =
        "UPDATE a2a_tasks SET folded = ?3, first = NULL, head = ?4 WHERE id = ?1 AND version = ?2 AND folded IS NULL";
    let mut update = batch.connection.prepare_cached(sql).map_err(unavailable)?;
    let mut folded = 0;
    for FoldedTask { id, owner, state, version, text, head } in tasks {
        let bytes = signed(text.len()) - weight(batch.connection, id)?;
        if update.execute(params![id, signed(*version), text, head]).map_err(unavailable)? == 1 {
            delete_events(batch, id)?;
            batch.change(owner, Counter::Tasks(*state), 0, bytes);
            folded += 1;
        }
    }
    Ok(folded)
}
