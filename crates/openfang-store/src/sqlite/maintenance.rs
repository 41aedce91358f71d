//! Inspects a database while other processes use it. Nothing here writes to it, changes its schema or creates one.
//!
//! `check.rs` checks its consistency; `backup.rs` copies it while others write.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, InterruptHandle};
use uuid::Uuid;

use super::schema::{self, OpenError};
use super::{audit, identity};
use crate::audit::{AuditEntry, AuditVerification};

mod backup;
mod check;

pub use check::{Finding, Report};

/// A database opened for reading only.
pub struct DatabaseFile {
    path: PathBuf,
    connection: Connection,
}

/// Why a database cannot be inspected or copied.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// SQLite cannot read it.
    #[error("{path} cannot be read: {cause}; run `openfang db check` for details", path = path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: rusqlite::Error,
    },
    /// There is no such row.
    #[error("no audit row {n}; `openfang audit tail` shows the latest rows")]
    NoRow { n: u64 },
    /// The target exists already.
    #[error("{path} already exists and is not overwritten; choose another name", path = path.display())]
    Exists { path: PathBuf },
    /// The copy cannot be written.
    #[error("{path} cannot be written: {cause}; choose another place", path = path.display())]
    NotWritten {
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

/// Interrupts the operation of a [`DatabaseFile`] when it is dropped.
pub struct CheckInterrupter(InterruptHandle);

impl Drop for CheckInterrupter {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

impl DatabaseFile {
    /// Opens an existing database.
    pub fn open(path: &Path) -> Result<Self, MaintenanceError> {
        let connection = schema::open_read_only(path)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Audit rows, oldest first: those after a number, or the latest ones.
    pub fn audit_tail(&self, after: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>, MaintenanceError> {
        audit::tail(&self.connection, after, limit).map_err(|cause| self.unreadable(cause))
    }

    /// One audit row by its number.
    pub fn audit_row(&self, n: u64) -> Result<AuditEntry, MaintenanceError> {
        let found = audit::entry(&self.connection, n).map_err(|cause| self.unreadable(cause))?;
        found.ok_or(MaintenanceError::NoRow { n })
    }

    /// Finds the first audit row that is not as it was written.
    pub fn audit_verify(&self) -> Result<AuditVerification, MaintenanceError> {
        let snapshot = self.connection.unchecked_transaction();
        snapshot
            .and_then(|snapshot| audit::verify(&snapshot))
            .map_err(|cause| self.unreadable(cause))
    }

    /// The id of the home that this database belongs to, if it has one yet.
    pub fn home(&self) -> Result<Option<Uuid>, MaintenanceError> {
        identity::known(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Whether any user exists.
    pub fn has_users(&self) -> Result<bool, MaintenanceError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM users)";
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|cause| self.unreadable(cause))
    }

    /// Checks the consistency of everything in the database.
    pub fn check(&self) -> Result<Report, MaintenanceError> {
        check::check(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Checks every page, one table at a time, so that the log can be checkpointed in between. Returns the damage.
    pub fn integrity(&self) -> Result<Option<String>, MaintenanceError> {
        check::damage(&self.connection).map_err(|cause| self.unreadable(cause))
    }

    /// Interrupts a running check when it is dropped.
    pub fn interrupter(&self) -> CheckInterrupter {
        CheckInterrupter(self.connection.get_interrupt_handle())
    }

    /// Copies everything that is committed to a new file. Returns its size in bytes.
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
