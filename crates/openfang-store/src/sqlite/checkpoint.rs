//! Checkpoints the write-ahead log. SQLite would do it in the middle of a commit and keep the old log until the next
//! write. If that log were damaged then, its first part would be applied to a database that already has all of it, and
//! the result would be inconsistent. So the writer checkpoints after it has answered, and starts a new log immediately.
//!
//! ```text
//! short ── 2,000 pages ──> due ─┬─ all is transferred ──> a new log: short
//!   ^                           └─ a reader needs it, or it failed ──> due again 2,000 pages later
//!   └── another process began a new log          └── at its maximum length: due after every commit
//! ```

use std::time::Duration;

use rusqlite::{Connection, Result};

use super::schema::BUSY_TIMEOUT;

/// The log length in pages, 8 MB. A longer log merges more changes of a page, but other writers wait longer for the
/// checkpoint.
const FULL_LOG: u64 = 2_000;
/// How long to wait for a reader that needs the old log. After that, the checkpoint is retried later.
const WAIT_FOR_READERS: Duration = Duration::from_millis(10);

/// When the writer checks the log again.
pub(super) struct Checkpoints {
    due_at: u64,
    /// The maximum length of the log, in pages.
    limit: u64,
    is_too_long: bool,
}

impl Checkpoints {
    pub(super) const fn new(limit: u64) -> Self {
        Self { due_at: FULL_LOG, limit, is_too_long: false }
    }

    /// Whether the log has reached its maximum length, because a reader keeps an old snapshot open.
    pub(super) const fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Checkpoints the log if it is long. A failure does no harm: the log grows, and it is retried.
    pub(super) fn after_commit(&mut self, connection: &Connection) {
        let Ok(pages) = pages(connection) else { return };
        self.is_too_long = pages >= self.limit;
        if pages < FULL_LOG.min(self.limit) {
            // Another process has started a new log.
            self.due_at = FULL_LOG;
        } else if pages >= self.due_at || self.is_too_long {
            self.due_at = match carry_over(connection) {
                Ok(true) => {
                    self.is_too_long = false;
                    FULL_LOG
                }
                Ok(false) => pages + FULL_LOG,
                Err(error) => {
                    tracing::warn!(%error, "the checkpoint of the database failed");
                    pages + FULL_LOG
                }
            };
        }
    }
}

/// The length of the log, without a checkpoint.
fn pages(connection: &Connection) -> Result<u64> {
    let mut statement = connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    let pages: i64 = statement.query_row([], |row| row.get("log"))?;
    Ok(u64::try_from(pages).unwrap_or(0))
}

/// Checkpoints the log. Returns whether all of it was transferred.
fn carry_over(connection: &Connection) -> Result<bool> {
    connection.busy_timeout(WAIT_FOR_READERS)?;
    let done = connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>("busy"));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let is_done = done? == 0;
    if is_done {
        // The new log starts with the first write. Until then the old one would be read after a crash.
        connection.execute_batch(
            "INSERT INTO meta (key, value) VALUES ('logs', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
        )?;
    }
    Ok(is_done)
}
