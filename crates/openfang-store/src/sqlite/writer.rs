//! The one thread of this process that writes. Whatever waits in the queue goes into one transaction; each caller is
//! answered after the commit that holds its write, and told when that commit failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::audit::Chain;
use super::checkpoint::Checkpoints;
use super::schema::OpenError;
use super::unavailable;
use super::watchers::{Watchers, data_version};
use crate::{Quota, StoreError, StoreFuture, WriteStats};

pub(super) use super::batch::Batch;
use queue::{Job, Queue};

mod queue;

/// The writing thread; it ends when this is dropped, after what is queued.
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and those who ask it have in common.
#[derive(Default)]
struct Shared {
    queue: Queue,
    commits: AtomicU64,
    writes: AtomicU64,
    lost: AtomicU64,
    failure: Mutex<Option<String>>,
    quota: Arc<Quota>,
}

struct TypedJob<F, T> {
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: Option<oneshot::Sender<Result<T, StoreError>>>,
}

impl<F, T> Job for TypedJob<F, T>
where
    F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let outcome = self.outcome.insert(work(batch));
        outcome.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn settle(mut self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = committed.and_then(|()| self.outcome.take().unwrap_or(Err(StoreError::Conflict)));
        if let Some(reply) = self.reply.take() {
            // Whoever stopped waiting does not want to know.
            let _ = reply.send(outcome);
        }
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_some()
    }
}

impl Writer {
    pub(super) fn start(connection: Connection, watchers: Arc<Watchers>, chain: Chain) -> Result<Self, OpenError> {
        let shared = Arc::<Shared>::default();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(&served, &connection, &watchers, chain))
            .map_err(OpenError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Queues a write at once; the future ends when it is durable.
    pub(super) fn write<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let queued = self
            .shared
            .queue
            .push(Box::new(TypedJob { work: Some(work), outcome: None, reply: Some(reply) }));
        Box::pin(async move {
            queued?;
            let ended = || StoreError::Unavailable { why: "the writer has ended".to_owned() };
            answer.await.unwrap_or_else(|_| Err(ended()))
        })
    }

    /// Queues a write that nobody waits for; it joins the next commit that somebody waits for, or comes a moment later.
    /// When the queue is full it is lost, and counted.
    pub(super) fn write_later<F>(&self, work: F)
    where
        F: FnOnce(&mut Batch<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        if self
            .shared
            .queue
            .push(Box::new(TypedJob { work: Some(work), outcome: None, reply: None }))
            .is_err()
        {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How much an owner may keep.
    pub(super) fn quota(&self) -> Arc<Quota> {
        Arc::clone(&self.shared.quota)
    }

    /// How many writes the thread has not taken yet.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.shared.queue.len()
    }

    pub(super) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.shared.commits.load(Ordering::Relaxed),
            writes: self.shared.writes.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
        }
    }

    /// Why the last commit failed, if it did.
    pub(super) fn failing(&self) -> Option<String> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A write that changes nothing but must be committed.
    pub(super) fn probe(&self) -> StoreFuture<'static, ()> {
        self.write(|batch| {
            let sql =
                "INSERT INTO meta (key, value) VALUES ('probe', 0) ON CONFLICT (key) DO UPDATE SET value = value + 1";
            batch
                .connection
                .prepare_cached(sql)
                .and_then(|mut s| s.execute([]))
                .map_err(unavailable)?;
            Ok(())
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic there was reported there.
            let _ = thread.join();
        }
    }
}

/// Closes the queue however the thread ends: nobody may wait for one that is gone.
struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

fn serve(shared: &Shared, connection: &Connection, watchers: &Watchers, mut chain: Chain) {
    let _closing = Closing(&shared.queue);
    let mut checkpoints = Checkpoints::new();
    let mut version = data_version(connection);
    while let Some(mut jobs) = shared.queue.take() {
        let mut batch = Batch::new(connection, chain, &shared.quota);
        let committed = commit(&mut batch, &mut jobs);
        // On the connection that writes it changes with the commits of others alone.
        let seen = data_version(connection);
        if std::mem::replace(&mut version, seen) != seen {
            watchers.overtaken();
        }
        let failure = committed.as_ref().err().or(batch.trouble.as_ref()).map(ToString::to_string);
        *shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        match &committed {
            Ok(()) => {
                shared.commits.fetch_add(1, Ordering::Relaxed);
                shared.writes.fetch_add(jobs.len() as u64, Ordering::Relaxed);
                chain = batch.chain.in_new_transaction();
                watchers.committed();
                watchers.wake(batch.touched());
                if batch.is_push_waiting() {
                    watchers.wake_pushes();
                }
                if batch.are_accounts_changed() {
                    watchers.wake_elsewhere();
                }
            }
            Err(error) => {
                tracing::error!(%error, "a commit failed");
                let lost = jobs.iter().filter(|job| !job.is_awaited()).count();
                shared.lost.fetch_add(lost as u64, Ordering::Relaxed);
            }
        }
        for job in jobs {
            job.settle(committed.clone());
        }
        if committed.is_ok() {
            checkpoints.after_commit(connection);
        }
    }
}

/// `BEGIN IMMEDIATE` waits for other processes; once it has the lock, nothing in here can be busy.
fn commit(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let connection = batch.connection;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(unavailable)?;
    let done = run_all(batch, jobs).and_then(|()| {
        let counted = batch.write_counts();
        counted.and_then(|()| connection.execute_batch("COMMIT")).map_err(unavailable)
    });
    if done.is_err() && !connection.is_autocommit() {
        // If this fails too, the next BEGIN says so.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// A job that is refused has changed nothing and harms nobody. One that breaks off in the middle takes the whole
/// transaction with it: half of it must not be committed.
fn run_all(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let connection = batch.connection;
    for job in jobs {
        let before = connection.total_changes();
        let done = job.run(batch);
        // A full disk may have rolled everything back by itself; what came now would be a transaction of its own.
        if connection.is_autocommit() {
            let why = "the transaction was rolled back; is the disk full?".to_owned();
            return Err(StoreError::Unavailable { why });
        }
        match done {
            Err(error) if connection.total_changes() != before => return Err(error),
            Err(error @ StoreError::Unavailable { .. }) => batch.trouble = Some(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
