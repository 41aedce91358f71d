//! Kept results in SQLite.

use jiff::Timestamp;
use openfang_types::ids::{Owner, ResultId};
use openfang_types::limits::{RESULTS_DELETED_AT_ONCE, RESULTS_PER_OWNER};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::batch::{Batch, Counter};
use super::tasks::columns::{get, labels, labels_text, name, nanos, signed, text, time};
use super::{Sqlite, damaged, unavailable};
use crate::{KeptResult, ResultForm, ResultStore, StoreError, StoreFuture};

/// The kept results of a database.
pub(super) struct SqliteResults {
    sqlite: Sqlite,
}

impl SqliteResults {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl ResultStore for SqliteResults {
    fn keep<'a>(&'a self, owner: &'a Owner, id: ResultId, result: KeptResult, now: Timestamp) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.sqlite.write_new(move |batch| {
            delete(batch, Some(&owner), now)?;
            keep(batch, &owner, id, &result)
        })
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: ResultId, now: Timestamp) -> StoreFuture<'a, Option<KeptResult>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| find(connection, &owner, id, now))
    }

    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let mut deleted = 0;
            loop {
                let some = self.sqlite.write(move |batch| delete(batch, None, now)).await?;
                deleted += some;
                if some < RESULTS_DELETED_AT_ONCE {
                    return Ok(deleted);
                }
            }
        })
    }
}

fn keep(batch: &mut Batch<'_>, owner: &Owner, id: ResultId, result: &KeptResult) -> Result<(), StoreError> {
    let labels = labels_text(&result.labels)?;
    let bytes = signed(result.content.len() + labels.len());
    if batch.number(owner, Counter::Results)? >= signed(RESULTS_PER_OWNER) {
        return Err(StoreError::TooMany { what: "kept results", limit: RESULTS_PER_OWNER });
    }
    batch.check_room_for_results(owner, bytes)?;
    let sql = "INSERT INTO kept_results (id, owner, form, content, labels, expires_at, scope)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let (id, expires_at) = (id.as_uuid().into_bytes(), nanos(result.expires_at));
    let KeptResult { form, content, scope, .. } = result;
    let values = params![id, owner.as_str(), form.as_str(), content, labels, expires_at, scope];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    batch.change(owner, Counter::Results, 1, bytes);
    Ok(())
}

fn find(
    connection: &Connection,
    owner: &Owner,
    id: ResultId,
    now: Timestamp,
) -> Result<Option<KeptResult>, StoreError> {
    let sql = "SELECT form, content, labels, expires_at, scope FROM kept_results
               WHERE id = ?1 AND owner = ?2 AND expires_at > ?3";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let at = params![id.as_uuid().into_bytes(), owner.as_str(), nanos(now)];
    let found = statement.query_row(at, |row| Ok(kept(row))).optional();
    found.map_err(unavailable)?.transpose()
}

fn kept(row: &Row<'_>) -> Result<KeptResult, StoreError> {
    let form = ResultForm::from_word(text(row, 0)?).ok_or_else(|| damaged("a form of a result that is none"))?;
    let (content, labels) = (get(row, 1)?, labels(row, 2)?);
    Ok(KeptResult { form, content, labels, expires_at: time(row, 3)?, scope: get(row, 4)? })
}

/// Deletes some of what has expired, of one owner or of all. Says how many.
fn delete(batch: &mut Batch<'_>, owner: Option<&Owner>, now: Timestamp) -> Result<usize, StoreError> {
    let sql = match owner {
        Some(_) => {
            "SELECT rowid, owner, octet_length(content) + octet_length(labels) FROM kept_results
                    WHERE owner = ?3 AND expires_at <= ?1 LIMIT ?2"
        }
        None => {
            "SELECT rowid, owner, octet_length(content) + octet_length(labels) FROM kept_results
                 WHERE expires_at <= ?1 AND ?3 IS NULL LIMIT ?2"
        }
    };
    let mut expired: Vec<(i64, Owner, i64)> = Vec::new();
    {
        let mut statement = batch.connection.prepare_cached(sql).map_err(unavailable)?;
        let owner = owner.map(Owner::as_str);
        let at = params![nanos(now), signed(RESULTS_DELETED_AT_ONCE), owner];
        let mut rows = statement.query(at).map_err(unavailable)?;
        while let Some(row) = rows.next().map_err(unavailable)? {
            expired.push((get(row, 0)?, name(row, 1)?, get(row, 2)?));
        }
    }
    for (row, owner, bytes) in &expired {
        let statement = batch.connection.prepare_cached("DELETE FROM kept_results WHERE rowid = ?1");
        statement.and_then(|mut statement| statement.execute([row])).map_err(unavailable)?;
        batch.change(owner, Counter::Results, -1, -bytes);
    }
    Ok(expired.len())
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
