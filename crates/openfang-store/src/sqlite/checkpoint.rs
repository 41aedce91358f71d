//! When the log is carried over into the database. SQLite would do it in the middle of a commit and leave the old log
//! standing until the next write: if that log were damaged then, its first part would be laid over a database that has
//! all of it, and neither would be right. So the writer does it, after it has answered, and begins a new log at once.

use std::time::Duration;

use rusqlite::{Connection, Result};

use super::schema::BUSY_TIMEOUT;

/// Pages in the log, 8 MB. The longer the log, the more changes of a page are carried over together; and the longer
/// everybody waits who writes meanwhile.
const FULL_LOG: u64 = 2_000;
/// A reader that needs the old log may finish. One that takes longer is left alone, until the next time.
const WAIT_FOR_READERS: Duration = Duration::from_millis(10);

/// When the writer looks at the log again.
pub(super) struct Checkpoints {
    due_at: u64,
    /// The longest that the log may get, in pages.
    limit: u64,
    is_too_long: bool,
}

impl Checkpoints {
    pub(super) const fn new(limit: u64) -> Self {
        Self { due_at: FULL_LOG, limit, is_too_long: false }
    }

    /// Whether the log is as long as it may get: somebody reads an old state of the database and does not end.
    pub(super) const fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Carries the log over if it is long. If that cannot be done now it is no harm: the log grows, and is tried again.
    pub(super) fn after_commit(&mut self, connection: &Connection) {
        let Ok(pages) = pages(connection) else { return };
        self.is_too_long = pages >= self.limit;
        if pages < FULL_LOG.min(self.limit) {
            // Somebody has begun a new log.
            self.due_at = FULL_LOG;
        } else if pages >= self.due_at || self.is_too_long {
            self.due_at = match carry_over(connection) {
                Ok(true) => {
                    self.is_too_long = false;
                    FULL_LOG
                }
                Ok(false) => pages + FULL_LOG,
                Err(error) => {
                    tracing::warn!(%error, "the log cannot be carried over into the database");
                    pages + FULL_LOG
                }
            };
        }
    }
}

/// Looks how long the log is, and does nothing.
fn pages(connection: &Connection) -> Result<u64> {
    let mut statement = connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    let pages: i64 = statement.query_row([], |row| row.get("log"))?;
    Ok(u64::try_from(pages).unwrap_or(0))
}

/// Says whether all of it was carried over.
fn carry_over(connection: &Connection) -> Result<bool> {
    connection.busy_timeout(WAIT_FOR_READERS)?;
    let done = connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>("busy"));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let is_done = done? == 0;
    if is_done {
        // The new log begins with the first write: until then the old one would still be read after a crash.
        connection.execute_batch(
            "INSERT INTO meta (key, value) VALUES ('logs', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
        )?;
    }
    Ok(is_done)
}
