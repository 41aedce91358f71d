//! Push configurations in SQLite. The due time is written with the event, in `write.rs`. Readers find due
//! configurations, and the writer claims them.

use jiff::Timestamp;
use openfang_types::event::Seq;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::PUSH_GIVEN_UP;
use openfang_types::secret::Secret;
use rusqlite::{Connection, Row, params};
use tokio::sync::watch;

use super::columns::{count, get, json, name, nanos, origin, signed, time, uuid};
use super::read::{self, each};
use super::write::{execute, find};
use crate::push::{ClaimOutcome, ClaimProgress, DuePushes, DueQuery, PushClaim};
use crate::sqlite::Sqlite;
use crate::sqlite::batch::Batch;
use crate::{DeliveryProgress, NewPush, PushAuthorization, PushConfig, PushRow, PushStore, StoreError, StoreFuture};

/// The push configurations of a database.
pub(in crate::sqlite) struct SqlitePushes {
    sqlite: Sqlite,
}

impl SqlitePushes {
    pub(in crate::sqlite) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl PushStore for SqlitePushes {
    fn set(&self, new: NewPush) -> StoreFuture<'_, PushRow> {
        self.sqlite.write_new(move |batch| set(batch, &new))
    }

    fn list<'a>(&'a self, owner: &'a Owner, task: TaskId) -> StoreFuture<'a, Vec<PushRow>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| {
            read::seq(connection, &owner, task)?;
            let sql = format!("SELECT {COLUMNS} FROM push_configs WHERE task = ?1 ORDER BY n");
            each(connection, &sql, [task.as_uuid().as_bytes()], row)
        })
    }

    fn delete<'a>(&'a self, owner: &'a Owner, task: TaskId, id: &'a str) -> StoreFuture<'a, ()> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.sqlite.write(move |batch| {
            read::seq(batch.connection, &owner, task)?;
            let sql = "DELETE FROM push_configs WHERE task = ?1 AND id = ?2";
            execute(batch, sql, params![task.as_uuid().as_bytes(), id])?;
            Ok(())
        })
    }

    fn due(&self, query: DueQuery) -> StoreFuture<'_, DuePushes> {
        self.sqlite.read(move |connection| due(connection, &query))
    }

    fn claim<'a>(&'a self, row: &'a PushRow, node: NodeId, until: Timestamp) -> StoreFuture<'a, PushClaim> {
        let read = PushClaim { task: row.task, id: row.config.id.clone(), version: row.version };
        self.sqlite.write(move |batch| claim(batch, read, node, until))
    }

    fn record_progress(&self, claim: PushClaim, progress: ClaimProgress) -> StoreFuture<'_, ()> {
        self.sqlite.write(move |batch| record_progress(batch, &claim, &progress))
    }

    fn holders(&self) -> StoreFuture<'_, Vec<NodeId>> {
        self.sqlite.read(holders)
    }

    fn abandon<'a>(&'a self, dead: &'a [NodeId], now: Timestamp) -> StoreFuture<'a, usize> {
        let dead = dead.to_vec();
        self.sqlite.write(move |batch| abandon(batch, &dead, now))
    }

    fn waiting(&self) -> watch::Receiver<u64> {
        self.sqlite.inner.watchers.pushes()
    }
}

/// The columns of [`row`], in its order.
const COLUMNS: &str = "owner, task, id, url, host, token, scheme, credentials, origin, created_at, seq, attempts, \
                       given_up, outcome, due_at, version, maker";

fn row(row: &Row<'_>) -> Result<PushRow, StoreError> {
    let scheme: Option<String> = get(row, 6)?;
    let credentials: Option<String> = get(row, 7)?;
    let config = PushConfig {
        id: get(row, 2)?,
        url: get(row, 3)?,
        host: get(row, 4)?,
        token: get::<Option<String>>(row, 5)?.map(Secret::new),
        authorization: scheme.map(|scheme| PushAuthorization { scheme, credentials: credentials.map(Secret::new) }),
        origin: origin(row, 8)?,
        maker: get(row, 16)?,
    };
    let reached = DeliveryProgress {
        seq: count(row, 10)?,
        attempts: count(row, 11)?,
        given_up: count(row, 12)?,
        outcome: get(row, 13)?,
    };
    Ok(PushRow {
        owner: name(row, 0)?,
        task: TaskId::from_uuid(uuid(row, 1)?),
        config,
        created_at: time(row, 9)?,
        reached,
        due_at: get::<Option<i64>>(row, 14)?.map(|_| time(row, 14)).transpose()?,
        version: count(row, 15)?,
    })
}

fn set(batch: &mut Batch<'_>, new: &NewPush) -> Result<PushRow, StoreError> {
    let last = read::seq(batch.connection, &new.owner, new.task)?;
    let key = params![new.task.as_uuid().into_bytes(), new.config.id];
    let known = find(batch, "SELECT seq FROM push_configs WHERE task = ?1 AND id = ?2", key, |row| count(row, 0))?;
    match known {
        Some(reached) => {
            let due_at = Some(new.at).filter(|_| last > reached);
            replace(batch, new, due_at)?;
        }
        None => {
            let held = "SELECT count(*) FROM push_configs WHERE task = ?1";
            let held: Option<usize> = find(batch, held, [new.task.as_uuid().as_bytes()], |row| count(row, 0))?;
            if held.is_some_and(|held| held >= new.limit) {
                return Err(StoreError::TooManyPushes { limit: new.limit });
            }
            insert(batch, new, last, None)?;
        }
    }
    batch.push_waits();
    let sql = format!("SELECT {COLUMNS} FROM push_configs WHERE task = ?1 AND id = ?2");
    find(batch, &sql, key, row)?.ok_or(StoreError::NotFound)
}

/// Adds a row with its progress at an event.
pub(super) fn insert(
    batch: &Batch<'_>,
    new: &NewPush,
    reached: Seq,
    due_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO push_configs (task, id, owner, url, host, token, scheme, credentials, origin, created_at,
                   seq, due_at, maker)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let NewPush { owner, task, config, at, .. } = new;
    let [scheme, credentials] = authorization(config);
    let values = params![
        task.as_uuid().into_bytes(),
        config.id,
        owner.as_str(),
        config.url,
        config.host,
        config.token.as_ref().map(Secret::expose),
        scheme,
        credentials,
        config.origin.as_str(),
        nanos(*at),
        signed(reached),
        due_at.map(nanos),
        config.maker,
    ];
    execute(batch, sql, values)?;
    Ok(())
}

/// Attempts for the old URL do not count for the new one.
fn replace(batch: &Batch<'_>, new: &NewPush, due_at: Option<Timestamp>) -> Result<(), StoreError> {
    let sql = "UPDATE push_configs SET url = ?3, host = ?4, token = ?5, scheme = ?6, credentials = ?7, origin = ?8,
                   due_at = ?9, maker = ?10, attempts = 0, given_up = 0, outcome = NULL, node = NULL, version = version + 1
               WHERE task = ?1 AND id = ?2";
    let NewPush { task, config, .. } = new;
    let [scheme, credentials] = authorization(config);
    let values = params![
        task.as_uuid().into_bytes(),
        config.id,
        config.url,
        config.host,
        config.token.as_ref().map(Secret::expose),
        scheme,
        credentials,
        config.origin.as_str(),
        due_at.map(nanos),
        config.maker,
    ];
    execute(batch, sql, values)?;
    Ok(())
}

fn authorization(config: &PushConfig) -> [Option<&str>; 2] {
    let authorization = config.authorization.as_ref();
    let credentials = authorization.and_then(|held| held.credentials.as_ref()).map(Secret::expose);
    [authorization.map(|held| held.scheme.as_str()), credentials]
}

pub(super) const HAPPENED: &str =
    "UPDATE push_configs SET due_at = ?2 WHERE task = ?1 AND due_at IS NULL AND given_up < ?3";

/// Makes the idle configurations of a task due, because the task has a new event.
pub(super) fn happened(batch: &mut Batch<'_>, task: TaskId, at: i64) -> Result<(), StoreError> {
    if execute(batch, HAPPENED, params![task.as_uuid().as_bytes(), at, PUSH_GIVEN_UP])? > 0 {
        batch.push_waits();
    }
    Ok(())
}

fn due(connection: &Connection, query: &DueQuery) -> Result<DuePushes, StoreError> {
    let now = nanos(query.now);
    let owners: Vec<&str> = query.except_owners.iter().map(Owner::as_str).collect();
    let values = params![now, json(&query.except_hosts)?, json(&owners)?, signed(query.limit)];
    let rows = each(connection, &due_sql(), values, row)?;
    let next = each(connection, NEXT, [now], |row| get::<Option<i64>>(row, 0)?.map(|_| time(row, 0)).transpose())?;
    Ok(DuePushes { rows, next: next.into_iter().flatten().next() })
}

pub(super) fn due_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM push_configs INDEXED BY push_configs_due
         WHERE due_at <= ?1 AND host NOT IN (SELECT value FROM json_each(?2))
             AND owner NOT IN (SELECT value FROM json_each(?3))
         ORDER BY due_at LIMIT ?4"
    )
}

pub(super) const NEXT: &str = "SELECT min(due_at) FROM push_configs INDEXED BY push_configs_due WHERE due_at > ?1";

fn claim(batch: &Batch<'_>, read: PushClaim, node: NodeId, until: Timestamp) -> Result<PushClaim, StoreError> {
    let sql = "UPDATE push_configs SET version = version + 1, node = ?4, due_at = ?5
               WHERE task = ?1 AND id = ?2 AND version = ?3 AND due_at IS NOT NULL";
    let PushClaim { task, id, version } = read;
    let values = params![task.as_uuid().into_bytes(), id, signed(version), node.as_uuid().into_bytes(), nanos(until)];
    match execute(batch, sql, values)? {
        0 => Err(StoreError::Conflict),
        _ => Ok(PushClaim { task, id, version: version + 1 }),
    }
}

fn record_progress(batch: &Batch<'_>, claim: &PushClaim, progress: &ClaimProgress) -> Result<(), StoreError> {
    let sql = "UPDATE push_configs SET seq = ?4, attempts = ?5, given_up = ?6, outcome = ?7, due_at = ?8,
                   node = CASE WHEN ?9 THEN node END
               WHERE task = ?1 AND id = ?2 AND version = ?3 AND node IS NOT NULL";
    let reached = &progress.reached;
    let due_at = match progress.then {
        ClaimOutcome::Hold(at) | ClaimOutcome::Later(at) => Some(at),
        ClaimOutcome::Rest(at) => {
            Some(at).filter(|_| reached.given_up < PUSH_GIVEN_UP && has_more(batch, claim, reached.seq))
        }
    };
    let values = params![
        claim.task.as_uuid().into_bytes(),
        claim.id,
        signed(claim.version),
        signed(reached.seq),
        reached.attempts,
        reached.given_up,
        reached.outcome,
        due_at.map(nanos),
        matches!(progress.then, ClaimOutcome::Hold(_)),
    ];
    match execute(batch, sql, values)? {
        0 => Err(StoreError::Conflict),
        _ => Ok(()),
    }
}

fn has_more(batch: &Batch<'_>, claim: &PushClaim, seq: Seq) -> bool {
    let sql = "SELECT seq FROM a2a_tasks WHERE id = ?1";
    let last = find(batch, sql, [claim.task.as_uuid().as_bytes()], |row| count::<Seq>(row, 0));
    // If it is unreadable, the next worker finds out.
    last.map_or(true, |last| last.is_some_and(|last| last > seq))
}

fn holders(connection: &Connection) -> Result<Vec<NodeId>, StoreError> {
    let sql = "SELECT DISTINCT node FROM push_configs INDEXED BY push_configs_claimed
               WHERE node IS NOT NULL ORDER BY node";
    each(connection, sql, [], |row| uuid(row, 0).map(NodeId::from_uuid))
}

fn abandon(batch: &mut Batch<'_>, dead: &[NodeId], now: Timestamp) -> Result<usize, StoreError> {
    let sql = "UPDATE push_configs SET node = NULL, due_at = ?2, version = version + 1 WHERE node = ?1";
    let mut abandoned = 0;
    for node in dead {
        abandoned += execute(batch, sql, params![node.as_uuid().as_bytes(), nanos(now)])?;
    }
    if abandoned > 0 {
        batch.push_waits();
    }
    Ok(abandoned)
}

#[cfg(test)]
#[path = "pushes_tests.rs"]
mod tests;
