//! Checks whether the file is the database of the home: it exists, has tables, and contains the home's id.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};
use uuid::Uuid;

use super::schema::{self, Loss, OpenError};

/// The home that the database belongs to.
const READ: &str = "SELECT value FROM meta WHERE key = 'home'";
const WRITE: &str = "INSERT INTO meta (key, value) VALUES ('home', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1";

/// The file exists and is not empty.
pub(super) fn has_bytes(path: &Path) -> Result<(), OpenError> {
    let lost = |why| Err(OpenError::Lost { path: path.to_owned(), why });
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => lost(Loss::Missing),
        Ok(found) if found.len() == 0 => lost(Loss::Empty),
        // Any other problem is reported when it is opened.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The file has a schema of this version.
pub(super) fn has_tables(path: &Path, version: u32) -> Result<(), OpenError> {
    let lost = || OpenError::Lost { path: path.to_owned(), why: Loss::NoTables };
    (version > 0).then_some(()).ok_or_else(lost)
}

/// The database names this home. One of an earlier version names none.
pub(super) fn belongs(connection: &Connection, path: &Path, home: Uuid) -> Result<(), OpenError> {
    match known(connection).map_err(|error| schema::judged(path, error))? {
        Some(found) if found != home => Err(OpenError::OtherHome { path: path.to_owned() }),
        Some(_) | None => Ok(()),
    }
}

/// Writes the home's id if there is none yet. Returns the id.
pub(super) fn assign_home(connection: &Connection, home: Option<Uuid>) -> rusqlite::Result<Uuid> {
    if let Some(found) = known(connection)? {
        return Ok(found);
    }
    let id = home.unwrap_or_else(Uuid::new_v4);
    connection.execute(WRITE, [id.to_string()])?;
    Ok(id)
}

/// Every table and index exists.
pub(super) fn has_schema(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let judge = |error| schema::judged(path, error);
    let model = Connection::open_in_memory().map_err(judge)?;
    schema::make(&model).map_err(judge)?;
    let (expected, found) = (names(&model).map_err(judge)?, names(connection).map_err(judge)?);
    match expected.difference(&found).next() {
        Some(name) => {
            Err(OpenError::Damaged { path: path.to_owned(), why: format!("{name} is missing from its schema") })
        }
        None => Ok(()),
    }
}

fn names(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement = connection.prepare("SELECT type || ' ' || name FROM sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

/// The id of the home, if the database has one yet.
pub(super) fn known(connection: &Connection) -> rusqlite::Result<Option<Uuid>> {
    let text: Option<String> = connection.query_row(READ, [], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| text.parse().ok()))
}
