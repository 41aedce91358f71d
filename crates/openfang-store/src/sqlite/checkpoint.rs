//! Checkpoints the write-ahead log. SQLite would do it in the middle of a commit and keep the old log until the next
//! write. If that log were damaged then, its first part would be applied to a database that already has all of it, and
//! the result would be inconsistent. So the writer checkpoints after it has answered, and starts a new log immediately.
//! A thread beside it does most of the work, so that the next commit does not wait for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, Result};

use super::schema::{BUSY_TIMEOUT, set_up};

/// The log length in pages, 8 MB. A longer log merges more changes of a page, but other writers wait longer for the
/// checkpoint.
const FULL_LOG: u64 = 2_000;
/// From this length on the writer does not wait for the thread that transfers the log.
const OVERFULL_LOG: u64 = 4 * FULL_LOG;
/// How long to wait for a reader that needs the old log. After that, the checkpoint is retried later.
const WAIT_FOR_READERS: Duration = Duration::from_millis(10);

/// When the writer checks the log again.
pub(super) struct Checkpoints {
    path: PathBuf,
    due_at: u64,
    /// The maximum length of the log, in pages.
    limit: u64,
    is_too_long: bool,
    transfer: Option<Transfer>,
}

/// A thread that transfers the log into the database while the writer goes on. The writer then transfers only what was
/// written meanwhile, before it starts a new log.
struct Transfer {
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Checkpoints {
    pub(super) fn new(path: &Path, limit: u64) -> Self {
        Self { path: path.to_owned(), due_at: FULL_LOG, limit, is_too_long: false, transfer: None }
    }

    /// Whether the log has reached its maximum length, because a reader keeps an old snapshot open.
    pub(super) const fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Checkpoints the log if it is long. A failure does no harm: the log grows, and it is retried. `wake` makes the writer
    /// call this again.
    pub(super) fn after_commit(&mut self, connection: &Connection, wake: impl FnOnce() + Send + 'static) {
        let Ok(pages) = pages(connection) else { return };
        self.is_too_long = pages >= self.limit;
        if pages < FULL_LOG.min(self.limit) {
            // Another process has started a new log.
            self.due_at = FULL_LOG;
            self.transfer.take_if(|transfer| transfer.is_done());
        } else if pages >= self.due_at || self.is_too_long {
            let is_urgent = self.is_too_long || pages >= OVERFULL_LOG;
            if self.is_transferred(wake) || is_urgent {
                self.start_new_log(connection, pages);
            }
        }
    }

    /// Waits for the thread, if it is at work.
    pub(super) fn end(&mut self) {
        if let Some(transfer) = self.transfer.take() {
            // A panic of the thread was already reported.
            let _ = transfer.thread.join();
        }
    }

    /// Whether the thread has transferred the log. It is started if it is not at work.
    fn is_transferred(&mut self, wake: impl FnOnce() + Send + 'static) -> bool {
        match &self.transfer {
            Some(transfer) if transfer.is_done() => {
                self.transfer = None;
                true
            }
            Some(_) => false,
            None => {
                self.transfer = Transfer::start(self.path.clone(), wake);
                // Without a thread the writer does it.
                self.transfer.is_none()
            }
        }
    }

    fn start_new_log(&mut self, connection: &Connection, pages: u64) {
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

impl Transfer {
    fn start(path: PathBuf, wake: impl FnOnce() + Send + 'static) -> Option<Self> {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let work = move || {
            // What is not transferred now is transferred by the writer.
            if let Err(error) = transfer(&path) {
                tracing::debug!(%error, "the log of the database was not transferred beside the writes");
            }
            done.store(true, Ordering::Release);
            wake();
        };
        let thread = std::thread::Builder::new().name("store-checkpoint".to_owned()).spawn(work).ok()?;
        Some(Self { is_done, thread })
    }

    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }
}

/// Transfers what no reader needs any more, without waiting for anybody and without starting a new log.
fn transfer(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    set_up(&connection)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
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
