//! Keys and values in SQLite. How many keys an owner has is kept in a counter: counting them would read them all.

use openfang_types::ids::Owner;
use openfang_types::limits::MEMORY_KEYS_PER_OWNER;
use openfang_types::taint::Labels;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::batch::{Batch, Counter};
use super::tasks::columns::signed;
use super::{Sqlite, damaged, unavailable};
use crate::{KeyValueStore, ListedKey, StoreError, StoreFuture, StoredValue};

/// The keys and values of a database.
pub(super) struct SqliteKeyValues {
    sqlite: Sqlite,
}

impl SqliteKeyValues {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl KeyValueStore for SqliteKeyValues {
    fn put<'a>(&'a self, owner: &'a Owner, key: &'a str, kept: StoredValue) -> StoreFuture<'a, ()> {
        let labels = match serde_json::to_string(&kept.labels) {
            Ok(labels) => labels,
            Err(error) => return Box::pin(async move { Err(StoreError::Unavailable { why: error.to_string() }) }),
        };
        let (owner, key) = (owner.clone(), key.to_owned());
        self.sqlite.write_new(move |batch| put(batch, &owner, &key, [&kept.value, &labels]))
    }

    fn get<'a>(&'a self, owner: &'a Owner, key: &'a str) -> StoreFuture<'a, Option<StoredValue>> {
        let (owner, key) = (owner.clone(), key.to_owned());
        self.sqlite.read(move |connection| get(connection, &owner, &key))
    }

    fn keys<'a>(&'a self, owner: &'a Owner, prefix: &'a str, limit: usize) -> StoreFuture<'a, Vec<ListedKey>> {
        let (owner, prefix) = (owner.clone(), prefix.to_owned());
        self.sqlite.read(move |connection| keys(connection, &owner, &prefix, limit))
    }
}

fn put(batch: &mut Batch<'_>, owner: &Owner, key: &str, [value, labels]: [&str; 2]) -> Result<(), StoreError> {
    let before = weight(batch.connection, owner, key)?;
    let after = signed(key.len() + value.len() + labels.len());
    batch.check_room(owner, after - before.unwrap_or_default())?;
    if before.is_none() && batch.number(owner, Counter::Memory)? >= signed(MEMORY_KEYS_PER_OWNER) {
        return Err(StoreError::TooManyKeys { limit: MEMORY_KEYS_PER_OWNER });
    }
    let sql = "INSERT INTO memory (owner, key, value, labels) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value, labels = excluded.labels";
    let statement = batch.connection.prepare_cached(sql);
    statement
        .and_then(|mut statement| statement.execute(params![owner.as_str(), key, value, labels]))
        .map_err(unavailable)?;
    batch.change(owner, Counter::Memory, i64::from(before.is_none()), after - before.unwrap_or_default());
    Ok(())
}

/// What a key counts, if it is there: itself, its value and its labels.
fn weight(connection: &Connection, owner: &Owner, key: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT octet_length(key) + octet_length(value) + octet_length(labels) FROM memory
               WHERE owner = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    statement
        .query_row([owner.as_str(), key], |row| row.get(0))
        .optional()
        .map_err(unavailable)
}

fn get(connection: &Connection, owner: &Owner, key: &str) -> Result<Option<StoredValue>, StoreError> {
    let sql = "SELECT value, labels FROM memory WHERE owner = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let found = statement.query_row([owner.as_str(), key], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let Some((value, labels)) = found.optional().map_err(unavailable)? else { return Ok(None) };
    Ok(Some(StoredValue { value, labels: parsed(&labels)? }))
}

/// SQLite compares text byte by byte, as Rust does: all keys with a prefix follow it directly.
fn keys(connection: &Connection, owner: &Owner, prefix: &str, limit: usize) -> Result<Vec<ListedKey>, StoreError> {
    let sql = "SELECT key, labels FROM memory WHERE owner = ?1 AND key >= ?2 ORDER BY key LIMIT ?3";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![owner.as_str(), prefix, limit]).map_err(unavailable)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        let key: String = row.get(0).map_err(unavailable)?;
        if !key.starts_with(prefix) {
            break;
        }
        let labels: String = row.get(1).map_err(unavailable)?;
        keys.push(ListedKey { key, labels: parsed(&labels)? });
    }
    Ok(keys)
}

fn parsed(labels: &str) -> Result<Labels, StoreError> {
    serde_json::from_str(labels).map_err(|_| damaged("labels that are none"))
}

#[cfg(test)]
#[path = "key_value_tests.rs"]
mod tests;
