//! Looking at a database beside whoever works with it. Nothing here writes to it, changes its schema or makes one.
//!
//! `check.rs` says whether everything in it fits together; `backup.rs` copies it, whole, while others write.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, InterruptHandle};
use uuid::Uuid;

use super::schema::{self, OpenError};
use super::{audit, identity};
use crate::audit::{AuditEntry, Verified};

mod backup;
mod check;

pub use check::{Finding, Report};

/// A database that is only looked at.
pub struct DatabaseFile {
    path: PathBuf,
    connection: Connection,
}

/// Why a database cannot be looked at, or copied.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// SQLite cannot read it.
    #[error("{path} cannot be read: {cause}; `openfang db check` says what is wrong with it", path = path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: rusqlite::Error,
    },
    /// There is no such row.
    #[error("there is no audit row {n}; `openfang audit tail` shows the latest ones")]
    NoRow {
        /// The number.
        n: u64,
    },
    /// Something is there already.
    #[error("{path} is there already and is not overwritten; choose another name", path = path.display())]
    Exists {
        /// Which file.
        path: PathBuf,
    },
    /// The copy cannot be written.
    #[error("{path} cannot be written: {cause}; choose another place", path = path.display())]
    NotWritten {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

/// Ends what a [`DatabaseFile`] is doing when it is dropped.
pub struct CheckInterrupter(InterruptHandle);

impl Drop for CheckInterrupter {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

impl DatabaseFile {
    /// Opens a database that is there.
    pub fn open(path: &Path) -> Result<Self, MaintenanceError> {
        let connection = schema::open_read_only(path)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Audit rows, oldest first: the next ones after a number, or the latest ones.
    pub fn audit_tail(&self, after: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>, MaintenanceError> {
        audit::tail(&self.connection, after, limit).map_err(|cause| self.unreadable(cause))
    }

    /// One audit row by its number.
    pub fn audit_row(&self, n: u64) -> Result<AuditEntry, MaintenanceError> {
        let found = audit::entry(&self.connection, n).map_err(|cause| self.unreadable(cause))?;
        found.ok_or(MaintenanceError::NoRow { n })
    }

    /// Looks for the first audit row that is not as it was written.
    pub fn audit_verify(&self) -> Result<Verified, MaintenanceError> {
        let snapshot = self.connection.unchecked_transaction();
        snapshot
            .and_then(|snapshot| audit::verify(&snapshot))
            .map_err(|cause| self.unreadable(cause))
    }

    /// The id of the home that this database belongs to, if it has one yet.
    pub fn home(&self) -> Result<Option<Uuid>, MaintenanceError> {
        identity::known(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Whether there is any user.
    pub fn has_users(&self) -> Result<bool, MaintenanceError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM users)";
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|cause| self.unreadable(cause))
    }

    /// Says whether everything fits together.
    pub fn check(&self) -> Result<Report, MaintenanceError> {
        check::check(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Looks at every page, a table at a time, so that the log can be carried over in between. Says what is damaged.
    pub fn integrity(&self) -> Result<Option<String>, MaintenanceError> {
        check::damage(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Ends a check that goes on when it is dropped.
    pub fn interrupter(&self) -> CheckInterrupter {
        CheckInterrupter(self.connection.get_interrupt_handle())
    }

    /// Copies everything that is committed now to a new file. Says how many bytes that has.
    pub fn backup(&self, to: &Path) -> Result<u64, MaintenanceError> {
        backup::backup(self, to)
    }

    fn unreadable(&self, cause: rusqlite::Error) -> MaintenanceError {
        MaintenanceError::Unreadable { path: self.path.clone(), cause }
    }
}

#[cfg(test)]
#[path = "maintenance_tests.rs"]
mod tests;
