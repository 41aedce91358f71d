//! Read-only connections, each with its own thread. All reads that are queued when a snapshot is taken share it,
//! because taking one costs as much as a small read. A thread is woken only when the running threads fall behind,
//! because waking costs even more. Large reads have their own queue and threads of low priority.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openfang_types::limits::{LARGE_READ_BYTES, READ_FAILURE_SHOWN};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::{schema, unavailable};
use crate::{StoreError, StoreFuture};

mod queue;

use queue::{Job, Queue, Reads};

/// The page cache of a connection: enough for the upper index levels of a million tasks. A negative number means
/// kibibytes.
const CACHE_KIB: i32 = -8_192;

/// A read that has not started after this time wakes another thread, because all running threads may be busy with long
/// reads.
const HELD_UP: Duration = Duration::from_millis(2);
/// How long reads join a snapshot. The log can be checkpointed when no snapshot needs it.
const SNAPSHOT: Duration = Duration::from_millis(3);

/// The reading threads, which end when this is dropped.
pub(super) struct Readers {
    queue: Arc<Queue>,
    large: Arc<Queue>,
    /// For reads on the caller's thread.
    spare: Mutex<Option<Connection>>,
    failures: Arc<ReadFailures>,
}

struct TypedJob<F, T> {
    work: F,
    reply: oneshot::Sender<Result<T, StoreError>>,
    failures: Arc<ReadFailures>,
}

/// The last failed read, remembered for a while. Successful reads do not clear it, because damage is often local.
#[derive(Default)]
struct ReadFailures(Mutex<Option<(Instant, String)>>);

impl ReadFailures {
    fn note<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Unavailable { why }) = &outcome {
            tracing::error!(%why, "a read of the database failed");
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), why.clone()));
        }
        outcome
    }

    fn recent(&self) -> Option<String> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()
            .filter(|(at, _)| at.elapsed() < READ_FAILURE_SHOWN)
            .map(|(_, why)| why.clone())
    }
}

impl<F, T> Job for TypedJob<F, T>
where
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(self: Box<Self>, connection: Result<&Connection, StoreError>) {
        // The caller may have stopped waiting.
        let _ = self.reply.send(self.failures.note(connection.and_then(self.work)));
    }

    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        let large = Arc::new(Queue::new(path.clone(), Reads::Large));
        let queue = Arc::new(Queue::new(path, Reads::Small));
        Self { queue, large, spare: Mutex::default(), failures: Arc::default() }
    }

    /// Queues a read. All its statements see the same snapshot, which is later than this call.
    pub(super) fn read<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.read_in(&self.queue, work)
    }

    /// Queues a read of up to so many bytes, behind other large reads if it may be large.
    pub(super) fn read_within<T, F>(&self, max_bytes: usize, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.read_in(if max_bytes > LARGE_READ_BYTES { &self.large } else { &self.queue }, work)
    }

    fn read_in<T, F>(&self, queue: &Arc<Queue>, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, mut answer) = oneshot::channel();
        let queued = queue.push(Box::new(TypedJob { work, reply, failures: Arc::clone(&self.failures) }));
        let queue = Arc::clone(queue);
        Box::pin(async move {
            let number = queued?;
            let answered = match tokio::time::timeout(HELD_UP, &mut answer).await {
                Ok(answered) => answered,
                Err(_) => {
                    queue.help(number)?;
                    answer.await
                }
            };
            let broken = || StoreError::Unavailable { why: "a read was aborted".to_owned() };
            answered.unwrap_or_else(|_| Err(broken()))
        })
    }

    /// Why a recent read failed, if one did.
    pub(super) fn failing(&self) -> Option<String> {
        self.failures.recent()
    }

    /// A read on the caller's own thread, which may block.
    pub(super) fn here<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.failures.note(self.read_here(work))
    }

    fn read_here<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let connection = match spare {
            Some(connection) => connection,
            None => open(&self.queue.path).map_err(unavailable)?,
        };
        run(&connection, "BEGIN")?;
        let done = work(&connection);
        run(&connection, "ROLLBACK")?;
        *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        done
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        self.large.close();
    }
}

fn serve(queue: &Queue) {
    let mut idle = None;
    while let Some((_, job)) = queue.take() {
        let connection = match idle.take() {
            Some(connection) => Ok(connection),
            None => open(&queue.path).map_err(unavailable),
        };
        match connection {
            // A connection with a panicked read, or one that cannot leave its snapshot, is dropped.
            Ok(connection) => idle = snapshot(queue, job, &connection).is_ok().then_some(connection),
            Err(error) => job.run(Err(error)),
        }
    }
}

/// Runs all reads queued before now in one snapshot.
fn snapshot(queue: &Queue, first: Box<dyn Job>, connection: &Connection) -> Result<(), StoreError> {
    let end = queue.next_number();
    if let Err(error) = run(connection, "BEGIN") {
        first.run(Err(error.clone()));
        return Err(error);
    }
    let begun = Instant::now();
    let mut next = Some(first);
    while let Some(job) = next {
        if job.is_awaited() {
            catch_unwind(AssertUnwindSafe(|| job.run(Ok(connection)))).map_err(|_| StoreError::Conflict)?;
        }
        // A disk error ends the snapshot: each further statement would see a different state.
        if connection.is_autocommit() {
            return Err(StoreError::Conflict);
        }
        next = if begun.elapsed() < SNAPSHOT { queue.take_before(end) } else { None };
    }
    run(connection, "ROLLBACK")
}

pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    schema::set_up(&connection)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    Ok(connection)
}

/// Uses cached statements: preparing them would be a large part of a short read.
fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    statement.execute([]).map_err(unavailable)?;
    Ok(())
}

#[cfg(test)]
#[path = "readers_tests.rs"]
mod tests;
