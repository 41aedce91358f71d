//! The remote side of tasks in SQLite. It is written in the transaction of its task.

use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId, TraceId};
use openfang_types::task::TaskState;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::columns::{count, get, name, nanos, text, time, uuid};
use super::read::each;
use super::write::execute;
use crate::sqlite::batch::Batch;
use crate::sqlite::{Sqlite, damaged};
use crate::{RemotePhase, RemoteRecord, RemoteStore, StoreError, StoreFuture};

const COLUMNS: &str = "task, agent, endpoint, dialect, message_id, remote_task, remote_context, phase, trace, hops,
     begun_at, seen_at";

/// The remote side of tasks of a database.
pub(in crate::sqlite) struct SqliteRemotes {
    sqlite: Sqlite,
}

impl SqliteRemotes {
    pub(in crate::sqlite) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl RemoteStore for SqliteRemotes {
    fn get(&self, task: TaskId) -> StoreFuture<'_, Option<RemoteRecord>> {
        self.sqlite.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM remotes WHERE task = ?1");
            let found = each(connection, &sql, [task.as_uuid().as_bytes()], record)?;
            Ok(found.into_iter().next().map(|(_, record)| record))
        })
    }

    fn context<'a>(
        &'a self,
        owner: &'a Owner,
        agent: &'a AgentName,
        context: &'a ContextId,
    ) -> StoreFuture<'a, Option<ContextId>> {
        let (owner, agent, context) = (owner.clone(), agent.clone(), context.clone());
        self.sqlite.read(move |connection| {
            let sql = "SELECT remote_context FROM a2a_tasks INDEXED BY a2a_tasks_by_context
                       WHERE owner = ?1 AND context_id = ?2 AND agent = ?3 AND remote_context IS NOT NULL
                       ORDER BY n DESC LIMIT 1";
            let key = [owner.as_str(), context.as_str(), agent.as_str()];
            Ok(each(connection, sql, key, |row| name(row, 0))?.pop())
        })
    }

    fn untold_cancels<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(TaskId, RemoteRecord)>> {
        let living = living.to_vec();
        self.sqlite.read(move |connection| untold_cancels(connection, &living))
    }

    fn abandoned_sign_ins<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(Owner, TaskId, RemoteRecord)>> {
        let living = living.to_vec();
        self.sqlite.read(move |connection| abandoned_sign_ins(connection, &living))
    }

    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()> {
        self.sqlite.write(move |batch| delete(batch, task))
    }
}

fn untold_cancels(connection: &Connection, living: &[NodeId]) -> Result<Vec<(TaskId, RemoteRecord)>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT node FROM a2a_tasks WHERE id = task) FROM remotes
         WHERE phase = 'canceling' ORDER BY task"
    );
    let found = each(connection, &sql, [], |row| Ok((record(row)?, get::<Option<[u8; 16]>>(row, 12)?)))?;
    let of_the_dead = found.into_iter().filter(|(_, node)| !is_alive(living, *node));
    Ok(of_the_dead.map(|(record, _)| record).collect())
}

fn abandoned_sign_ins(
    connection: &Connection,
    living: &[NodeId],
) -> Result<Vec<(Owner, TaskId, RemoteRecord)>, StoreError> {
    let sql = format!(
        "SELECT asked.*, waiting.node, waiting.owner
         FROM (SELECT {COLUMNS} FROM remotes WHERE phase = 'asked') AS asked
         CROSS JOIN a2a_tasks AS waiting ON waiting.id = asked.task
         WHERE waiting.state = 'auth-required' ORDER BY asked.task"
    );
    let found = each(connection, &sql, [], |row| {
        Ok((record(row)?, get::<Option<[u8; 16]>>(row, 12)?, name::<Owner>(row, 13)?))
    })?;
    let of_the_dead = found.into_iter().filter(|(_, node, _)| !is_alive(living, *node));
    Ok(of_the_dead.map(|((task, record), _, owner)| (owner, task, record)).collect())
}

fn is_alive(living: &[NodeId], node: Option<[u8; 16]>) -> bool {
    node.is_some_and(|node| living.contains(&NodeId::from_uuid(Uuid::from_bytes(node))))
}

fn record(row: &Row<'_>) -> Result<(TaskId, RemoteRecord), StoreError> {
    let phase = RemotePhase::from_word(text(row, 7)?).ok_or_else(|| damaged("an unknown phase of a remote task"))?;
    let hops = u8::try_from(count::<u64>(row, 9)?).map_err(|_| damaged("a hop count that is too large"))?;
    let record = RemoteRecord {
        agent: name(row, 1)?,
        endpoint: text(row, 2)?.to_owned(),
        dialect: text(row, 3)?.to_owned(),
        message_id: name(row, 4)?,
        remote_task: optional(row, 5)?,
        remote_context: optional(row, 6)?,
        phase,
        trace: TraceId::from_uuid(uuid(row, 8)?),
        hops,
        begun_at: time(row, 10)?,
        seen_at: time(row, 11)?,
    };
    Ok((TaskId::from_uuid(uuid(row, 0)?), record))
}

fn optional<T: std::str::FromStr>(row: &Row<'_>, column: usize) -> Result<Option<T>, StoreError> {
    match get::<Option<String>>(row, column)? {
        Some(_) => name(row, column).map(Some),
        None => Ok(None),
    }
}

/// Writes the remote side of a task that goes on, or deletes it with the end of the task.
pub(super) fn update(
    batch: &Batch<'_>,
    task: TaskId,
    remote: Option<&RemoteRecord>,
    state: TaskState,
) -> Result<(), StoreError> {
    if let Some(context) = remote.and_then(|remote| remote.remote_context.as_ref()) {
        let sql = "UPDATE a2a_tasks SET remote_context = ?2 WHERE id = ?1 AND remote_context IS NOT ?2";
        execute(batch, sql, params![task.as_uuid().as_bytes(), context.as_str()])?;
    }
    match remote {
        Some(remote) if !state.is_terminal() || remote.outlives_the_task() => put(batch, task, remote),
        Some(_) | None if state.is_terminal() => delete(batch, task),
        Some(_) | None => Ok(()),
    }
}

fn put(batch: &Batch<'_>, task: TaskId, remote: &RemoteRecord) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT OR REPLACE INTO remotes ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    );
    let values = params![
        task.as_uuid().into_bytes(),
        remote.agent.as_str(),
        remote.endpoint,
        remote.dialect,
        remote.message_id.as_str(),
        remote.remote_task.as_ref().map(|task| task.as_str()),
        remote.remote_context.as_ref().map(|context| context.as_str()),
        remote.phase.as_str(),
        remote.trace.as_uuid().into_bytes(),
        remote.hops,
        nanos(remote.begun_at),
        nanos(remote.seen_at),
    ];
    execute(batch, &sql, values)?;
    Ok(())
}

/// Deletes the remote side of a task.
pub(super) fn delete(batch: &Batch<'_>, task: TaskId) -> Result<(), StoreError> {
    execute(batch, "DELETE FROM remotes WHERE task = ?1", [task.as_uuid().as_bytes()])?;
    Ok(())
}

#[cfg(test)]
#[path = "remotes_tests.rs"]
mod tests;
