//! Schedules in SQLite. A change is made in the writer's transaction, if the row still has the version that it was
//! decided on.

use jiff::Timestamp;
use openfang_types::ids::{Owner, ScheduleId, TraceId};
use openfang_types::limits::SCHEDULES_ENDED_KEPT;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use tokio::sync::watch;

use super::batch::Batch;
use super::tasks::columns::{json, nanos, signed, text};
use super::{Sqlite, damaged, unavailable};
use crate::{DueSchedules, Schedule, ScheduleStore, StoreError, StoreFuture};

/// The schedules of a database.
pub(super) struct SqliteSchedules {
    sqlite: Sqlite,
}

impl SqliteSchedules {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl ScheduleStore for SqliteSchedules {
    fn create(&self, new: Schedule, limit: usize) -> StoreFuture<'_, ()> {
        self.sqlite.write_new(move |batch| {
            let open = "SELECT count(*) FROM schedules WHERE owner = ?1 AND state IN ('active', 'paused')";
            let mut statement = batch.connection.prepare_cached(open).map_err(unavailable)?;
            let open: i64 = statement.query_row([new.owner.as_str()], |row| row.get(0)).map_err(unavailable)?;
            if open >= signed(limit) {
                return Err(StoreError::TooMany { what: "schedules", limit });
            }
            write(batch, &new)
        })
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, Option<Schedule>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| {
            let found = find(connection, id)?;
            Ok(found.filter(|known| known.owner == owner && known.is_visible()))
        })
    }

    fn list<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, Vec<Schedule>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| {
            let sql =
                "SELECT body FROM schedules WHERE owner = ?1 AND state <> 'deleted' ORDER BY created_at DESC, id DESC";
            select(connection, sql, [owner.as_str()])
        })
    }

    fn delete<'a>(&'a self, owner: &'a Owner, id: ScheduleId) -> StoreFuture<'a, bool> {
        let owner = owner.clone();
        self.sqlite.write(move |batch| {
            let known = find(batch.connection, id)?.filter(|known| known.owner == owner && known.is_visible());
            let Some(known) = known else { return Ok(false) };
            match known.removed() {
                Some(left) => write(batch, &left)?,
                None => remove(batch, id)?,
            }
            Ok(true)
        })
    }

    fn update(&self, changed: Schedule) -> StoreFuture<'_, Schedule> {
        self.sqlite.write(move |batch| {
            let known = find(batch.connection, changed.id)?.ok_or(StoreError::NotFound)?;
            let Some(next) = known.replaced_by(changed.clone())? else {
                remove(batch, changed.id)?;
                return Ok(changed);
            };
            write(batch, &next)?;
            forget_the_oldest(batch.connection, &next.owner)?;
            Ok(next)
        })
    }

    fn due(&self, now: Timestamp, limit: usize) -> StoreFuture<'_, DueSchedules> {
        self.sqlite.read(move |connection| {
            let sql = "SELECT body FROM schedules WHERE due_at IS NOT NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?2";
            let schedules = select(connection, sql, params![nanos(now), signed(limit)])?;
            let next = "SELECT min(due_at) FROM schedules WHERE due_at IS NOT NULL AND due_at > ?1";
            let mut statement = connection.prepare_cached(next).map_err(unavailable)?;
            let next: Option<i64> = statement.query_row([nanos(now)], |row| row.get(0)).map_err(unavailable)?;
            let next = next.map(|at| Timestamp::from_nanosecond(at.into()).map_err(|_| damaged("an impossible time")));
            Ok(DueSchedules { schedules, next: next.transpose()? })
        })
    }

    fn running(&self) -> StoreFuture<'_, Vec<Schedule>> {
        self.sqlite
            .read(move |connection| select(connection, "SELECT body FROM schedules WHERE node IS NOT NULL", []))
    }

    fn has_started(&self, trace: TraceId) -> StoreFuture<'_, bool> {
        self.sqlite.read(move |connection| {
            let sql = "SELECT 1 FROM schedules WHERE trace IS NOT NULL AND trace = ?1";
            let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
            statement.exists([trace.as_uuid().into_bytes()]).map_err(unavailable)
        })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.sqlite.inner.watchers.background()
    }
}

fn write(batch: &mut Batch<'_>, schedule: &Schedule) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO schedules (id, owner, state, created_at, due_at, node, trace, version, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = params![
        schedule.id.as_uuid().into_bytes(),
        schedule.owner.as_str(),
        schedule.state.as_str(),
        nanos(schedule.created_at),
        schedule.due_at().map(nanos),
        schedule.run.as_ref().map(|run| run.node.as_uuid().into_bytes()),
        schedule.trace.map(|trace| trace.as_uuid().into_bytes()),
        signed(schedule.version),
        json(schedule)?,
    ];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    batch.background_changed();
    Ok(())
}

fn remove(batch: &mut Batch<'_>, id: ScheduleId) -> Result<(), StoreError> {
    let statement = batch.connection.prepare_cached("DELETE FROM schedules WHERE id = ?1");
    statement
        .and_then(|mut statement| statement.execute([id.as_uuid().into_bytes()]))
        .map_err(unavailable)?;
    batch.background_changed();
    Ok(())
}

/// Of schedules that are over, the latest are kept.
fn forget_the_oldest(connection: &Connection, owner: &Owner) -> Result<(), StoreError> {
    let sql = "DELETE FROM schedules WHERE id IN (
                   SELECT id FROM schedules WHERE owner = ?1 AND state = 'ended' AND node IS NULL
                   ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?2)";
    let statement = connection.prepare_cached(sql);
    let values = params![owner.as_str(), signed(SCHEDULES_ENDED_KEPT)];
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn find(connection: &Connection, id: ScheduleId) -> Result<Option<Schedule>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT body FROM schedules WHERE id = ?1")
        .map_err(unavailable)?;
    let found = statement.query_row([id.as_uuid().into_bytes()], |row| Ok(schedule(row))).optional();
    found.map_err(unavailable)?.transpose()
}

fn select(connection: &Connection, sql: &str, values: impl Params) -> Result<Vec<Schedule>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query(values).map_err(unavailable)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        found.push(schedule(row)?);
    }
    Ok(found)
}

fn schedule(row: &Row<'_>) -> Result<Schedule, StoreError> {
    serde_json::from_str(text(row, 0)?).map_err(|_| damaged("a schedule that is none"))
}

#[cfg(test)]
#[path = "schedules_tests.rs"]
mod tests;
