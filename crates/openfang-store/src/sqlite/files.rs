//! Records of workspace files in SQLite.

use openfang_types::ids::Owner;
use openfang_types::limits::FILES_PER_OWNER;
use openfang_types::taint::Labels;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::batch::{Batch, Counter};
use super::tasks::columns::{count, get, json, name, signed, text};
use super::{Sqlite, damaged, unavailable};
use crate::{FilePath, FileRecord, FileStore, StoreError, StoreFuture};

/// The records of a database.
pub(super) struct SqliteFiles {
    sqlite: Sqlite,
}

impl SqliteFiles {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl FileStore for SqliteFiles {
    fn announce<'a>(
        &'a self,
        owner: &'a Owner,
        path: &'a str,
        next: FileRecord,
    ) -> StoreFuture<'a, Option<FileRecord>> {
        let (owner, path) = (owner.clone(), path.to_owned());
        self.sqlite.write(move |batch| {
            let before = find(batch.connection, &owner, &path)?;
            let until = before.clone().unwrap_or_default().either(&next);
            replace(batch, &owner, &path, before.as_ref(), Some(&until))?;
            Ok(before)
        })
    }

    fn settle<'a>(&'a self, owner: &'a Owner, path: &'a str, record: Option<FileRecord>) -> StoreFuture<'a, ()> {
        let (owner, path) = (owner.clone(), path.to_owned());
        self.sqlite.write(move |batch| {
            let before = find(batch.connection, &owner, &path)?;
            replace(batch, &owner, &path, before.as_ref(), record.as_ref())
        })
    }

    fn get<'a>(&'a self, owner: &'a Owner, path: &'a str) -> StoreFuture<'a, Option<FileRecord>> {
        let (owner, path) = (owner.clone(), path.to_owned());
        self.sqlite.read(move |connection| find(connection, &owner, &path))
    }

    fn labels_below<'a>(&'a self, owner: &'a Owner, directory: &'a str) -> StoreFuture<'a, Labels> {
        let (owner, directory) = (owner.clone(), directory.to_owned());
        self.sqlite.read(move |connection| labels_below(connection, &owner, &directory))
    }

    fn paths<'a>(&'a self, after: Option<&'a FilePath>, limit: usize) -> StoreFuture<'a, Vec<FilePath>> {
        let after = after.cloned();
        self.sqlite.read(move |connection| paths(connection, after.as_ref(), limit))
    }
}

fn find(connection: &Connection, owner: &Owner, path: &str) -> Result<Option<FileRecord>, StoreError> {
    let sql = "SELECT bytes, labels FROM files WHERE owner = ?1 AND path = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let found = statement.query_row([owner.as_str(), path], |row| Ok(record(row))).optional();
    found.map_err(unavailable)?.transpose()
}

fn record(row: &Row<'_>) -> Result<FileRecord, StoreError> {
    let labels = match get::<Option<String>>(row, 1)? {
        Some(labels) => parsed(&labels)?,
        None => Labels::none(),
    };
    Ok(FileRecord { bytes: count(row, 0)?, labels })
}

fn parsed(labels: &str) -> Result<Labels, StoreError> {
    serde_json::from_str(labels).map_err(|_| damaged("labels that are none"))
}

/// Checks first and changes afterwards, like every write.
fn replace(
    batch: &mut Batch<'_>,
    owner: &Owner,
    path: &str,
    before: Option<&FileRecord>,
    after: Option<&FileRecord>,
) -> Result<(), StoreError> {
    if before == after {
        return Ok(());
    }
    let labels = after.map(labels_text).transpose()?.flatten();
    let grows =
        after.map_or(Ok(0), |record| weight(path, record))? - before.map_or(Ok(0), |record| weight(path, record))?;
    batch.check_room(owner, grows)?;
    if before.is_none() && batch.number(owner, Counter::Files)? >= signed(FILES_PER_OWNER) {
        return Err(StoreError::TooMany { what: "files", limit: FILES_PER_OWNER });
    }
    let sql = match after {
        Some(_) => {
            "INSERT INTO files (owner, path, bytes, labels) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (owner, path) DO UPDATE SET bytes = excluded.bytes, labels = excluded.labels"
        }
        None => "DELETE FROM files WHERE owner = ?1 AND path = ?2 AND ?3 = 0 AND ?4 IS NULL",
    };
    let bytes = after.map_or(0, |record| signed(record.bytes));
    let statement = batch.connection.prepare_cached(sql);
    statement
        .and_then(|mut statement| statement.execute(params![owner.as_str(), path, bytes, labels]))
        .map_err(unavailable)?;
    let number = i64::from(after.is_some()) - i64::from(before.is_some());
    batch.change(owner, Counter::Files, number, grows);
    Ok(())
}

fn labels_text(record: &FileRecord) -> Result<Option<String>, StoreError> {
    if record.labels.is_empty() { Ok(None) } else { json(&record.labels).map(Some) }
}

/// The bytes a file counts for: its content, its name and its labels.
fn weight(path: &str, record: &FileRecord) -> Result<i64, StoreError> {
    let labels = labels_text(record)?.map_or(0, |labels| labels.len());
    Ok(signed(record.bytes).saturating_add(signed(path.len() + labels)))
}

/// Only files with labels are read, and each set of labels once.
fn labels_below(connection: &Connection, owner: &Owner, directory: &str) -> Result<Labels, StoreError> {
    // The character after the slash: every path below the directory sorts between the two.
    let sql = "SELECT DISTINCT labels FROM files INDEXED BY files_with_labels
               WHERE owner = ?1 AND path > ?2 || '/' AND path < ?2 || '0' AND labels IS NOT NULL";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query([owner.as_str(), directory]).map_err(unavailable)?;
    let mut labels = Labels::none();
    while let Some(row) = rows.next().map_err(unavailable)? {
        labels.join(&parsed(text(row, 0)?)?);
    }
    Ok(labels)
}

fn paths(connection: &Connection, after: Option<&FilePath>, limit: usize) -> Result<Vec<FilePath>, StoreError> {
    let sql = "SELECT owner, path FROM files WHERE (owner, path) > (?1, ?2) ORDER BY owner, path LIMIT ?3";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let (owner, path) = after.map_or(("", ""), |after| (after.owner.as_str(), after.path.as_str()));
    let mut rows = statement.query(params![owner, path, signed(limit)]).map_err(unavailable)?;
    let mut paths = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        paths.push(FilePath { owner: name(row, 0)?, path: get(row, 1)? });
    }
    Ok(paths)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
