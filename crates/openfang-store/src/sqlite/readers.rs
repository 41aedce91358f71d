//! Connections that only read. A few are kept; when all are busy another is opened and closed again.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};

use super::{schema, unavailable};
use crate::StoreError;

/// Idle connections that are kept.
const KEPT: usize = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::new(Vec::new()) }
    }

    /// Reads in one snapshot: all statements of `work` see the same moment.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open().map_err(unavailable)?,
        };
        let snapshot = connection.unchecked_transaction().map_err(unavailable)?;
        let done = work(&snapshot);
        // A connection that cannot leave its snapshot is not kept.
        snapshot.rollback().map_err(unavailable)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
        done
    }

    pub(super) fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        schema::set_up(&connection)?;
        Ok(connection)
    }
}
