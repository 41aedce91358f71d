//! Looking after a home's database: its audit log, a check, a backup. Nothing here needs a kernel or a daemon, and
//! nothing here stands in the way of one: the database is only read, beside whoever works with it.

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use openfang_store::{DatabaseFile, Loss, OpenError};
use openfang_types::limits::AUDIT_PAGE_ROWS;

pub use openfang_store::{
    AuditEntry, AuditGap, AuditKind, AuditLink, AuditOutcome, AuditProblem, AuditRemoval, AuditRow, AuditSubject,
    AuditVerification, Finding, MaintenanceError, RefusalSummary, Report, SubjectKind,
};

use crate::settings::home::record::HomeRecord;
use crate::settings::home::{self, Home};

pub use filter::{AuditFilter, Since};

mod filter;

/// The audit log of a home.
pub struct AuditLog {
    file: DatabaseFile,
}

impl AuditLog {
    /// Opens the log of a home that has one.
    pub fn open(home: &Home) -> Result<Self, MaintenanceError> {
        Ok(Self { file: database_of(home)? })
    }

    /// Rows, oldest first: the next ones after a number, or the latest ones.
    pub fn tail(&self, after: Option<u64>, limit: usize) -> Result<Vec<AuditEntry>, MaintenanceError> {
        self.file.audit_tail(after, limit)
    }

    /// The latest rows that fit, oldest first. Goes back from the newest row until there are enough.
    pub fn latest(&self, limit: usize, filter: &AuditFilter) -> Result<Vec<AuditEntry>, MaintenanceError> {
        if filter.is_empty() {
            return self.tail(None, limit);
        }
        let first = self.tail(Some(0), 1)?.first().map_or(0, |entry| entry.n);
        let mut last = self.tail(None, 1)?.last().map_or(0, |entry| entry.n);
        let mut found = Vec::new();
        while found.len() < limit && last >= first && last > 0 {
            let before = last.saturating_sub(AUDIT_PAGE_ROWS as u64);
            let page = self.tail(Some(before), AUDIT_PAGE_ROWS)?;
            let fitting = page.into_iter().rev().filter(|entry| entry.n <= last && filter.fits(entry));
            found.extend(fitting.take(limit - found.len()));
            last = before;
        }
        found.reverse();
        Ok(found)
    }

    /// One row by its number.
    pub fn row(&self, n: u64) -> Result<AuditEntry, MaintenanceError> {
        self.file.audit_row(n)
    }

    /// Looks for the first row that is not as it was written.
    pub fn verify(&self) -> Result<AuditVerification, MaintenanceError> {
        self.file.audit_verify()
    }

    /// All rows that are there now, some at a time.
    pub fn pages(&self) -> Result<impl Iterator<Item = Result<Vec<AuditEntry>, MaintenanceError>>, MaintenanceError> {
        let end = self.tail(None, 1)?.last().map_or(0, |entry| entry.n);
        let mut after = 0;
        Ok(std::iter::from_fn(move || {
            if after >= end {
                return None;
            }
            let page = self.tail(Some(after), AUDIT_PAGE_ROWS);
            after = page.as_ref().ok().and_then(|page| page.last()).map_or(end, |entry| entry.n);
            Some(page)
        }))
    }

    /// Writes all rows to a new file, one JSON document a line. Says how many there were.
    pub fn export(&self, to: &Path) -> Result<u64, MaintenanceError> {
        let not_written = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => MaintenanceError::Exists { path: to.to_owned() },
            _ => MaintenanceError::NotWritten { path: to.to_owned(), cause },
        };
        let mut out = BufWriter::new(home::create_private_file(to).map_err(not_written)?);
        let written = self.write_lines(&mut out, not_written).and_then(|rows| {
            let synced = out.flush().and_then(|()| out.get_ref().sync_all());
            synced.map_err(not_written).map(|()| rows)
        });
        if written.is_err() {
            // Half an export looks like a whole one.
            let _ = fs::remove_file(to);
        }
        written
    }

    fn write_lines(
        &self,
        out: &mut impl io::Write,
        not_written: impl Fn(io::Error) -> MaintenanceError,
    ) -> Result<u64, MaintenanceError> {
        let mut rows = 0;
        for page in self.pages()? {
            for entry in page? {
                serde_json::to_writer(&mut *out, &entry).map_err(|error| not_written(error.into()))?;
                out.write_all(b"\n").map_err(&not_written)?;
                rows += 1;
            }
        }
        Ok(rows)
    }
}

/// Copies the database of a home to a new file, as of now. Says how many bytes that has.
pub fn backup(home: &Home, to: &Path) -> Result<u64, MaintenanceError> {
    database_of(home)?.backup(to)
}

/// Whether a home has any user; one that has never had a database has none.
pub fn has_users(home: &Home) -> Result<bool, MaintenanceError> {
    match database_of(home) {
        Err(MaintenanceError::Open(OpenError::Missing { .. })) => Ok(false),
        opened => opened?.has_users(),
    }
}

/// Whether there is a database with a user at this path.
pub(crate) fn users_in(path: &Path) -> Result<bool, MaintenanceError> {
    match DatabaseFile::open(path) {
        Err(MaintenanceError::Open(OpenError::Missing { .. })) => Ok(false),
        opened => opened?.has_users(),
    }
}

/// Says whether everything in the database of a home fits together.
pub fn check(home: &Home) -> Result<Report, MaintenanceError> {
    database_of(home)?.check()
}

/// The database of a home; one that the home remembers and that is not there is lost, not to be made yet.
fn database_of(home: &Home) -> Result<DatabaseFile, MaintenanceError> {
    let path = home.database();
    // A record that cannot be read is the next start's concern: looking at a database helps to see what is left.
    let Some(id) = HomeRecord::read(home).ok().flatten().and_then(|record| record.id) else {
        return DatabaseFile::open(&path);
    };
    let lost = |why| MaintenanceError::from(OpenError::Lost { path: path.clone(), why });
    let file = match DatabaseFile::open(&path) {
        Err(MaintenanceError::Open(OpenError::Missing { .. })) => match path.metadata() {
            Err(_) => return Err(lost(Loss::Missing)),
            Ok(found) if found.len() == 0 => return Err(lost(Loss::Empty)),
            Ok(_) => return Err(lost(Loss::NoTables)),
        },
        opened => opened?,
    };
    match file.home()? {
        Some(found) if found != id => Err(OpenError::OtherHome { path }.into()),
        Some(_) | None => Ok(file),
    }
}

#[cfg(test)]
#[path = "maintenance_tests.rs"]
mod tests;
