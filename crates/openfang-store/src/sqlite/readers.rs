//! Connections that only read. There are a few, and whoever comes when all are busy waits for a turn: more would cost
//! more than they bring.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{schema, unavailable};
use crate::StoreError;

/// Connections, and reads at a time.
const READERS: usize = 8;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Waits until a connection is free; it is, for as long as the turn is kept.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        turn.map_err(|closed| StoreError::Unavailable { why: closed.to_string() })
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
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        done
    }

    pub(super) fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        schema::set_up(&connection)?;
        Ok(connection)
    }
}
