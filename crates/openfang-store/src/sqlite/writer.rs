//! The one thread of this process that writes. Whatever waits in the queue goes into one transaction; each caller is
//! answered after the commit that holds its write, and told when that commit failed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use openfang_types::limits::{STORE_BATCH, STORE_CROWD, STORE_GATHER, STORE_LINGER, STORE_QUEUE};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::audit::Chain;
use super::checkpoint::Checkpoints;
use super::schema::OpenError;
use super::unavailable;
use super::watchers::Watchers;
use crate::{StoreError, StoreFuture, WriteStats};

pub(super) use super::batch::Batch;

/// The writing thread; it ends when this is dropped, after what is queued.
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    commits: AtomicU64,
    writes: AtomicU64,
    lost: AtomicU64,
    failure: Mutex<Option<String>>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    /// When they are written: at once if anybody waits for one of them, else a moment after the first came.
    due: Option<Instant>,
    /// How many came together last time.
    crowd: usize,
    is_closed: bool,
}

/// A write that waits its turn. It is answered after the commit.
trait Job: Send {
    /// Does the work, and says so already when it failed.
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError>;
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
    fn is_awaited(&self) -> bool;
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
        let queue = Arc::new(Queue {
            state: Mutex::default(),
            filled: Condvar::new(),
            commits: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            failure: Mutex::default(),
        });
        let served = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(&served, &connection, &watchers, chain))
            .map_err(OpenError::Thread)?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Queues a write at once; the future ends when it is durable.
    pub(super) fn write<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let queued = self
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
            .queue
            .push(Box::new(TypedJob { work: Some(work), outcome: None, reply: None }))
            .is_err()
        {
            self.queue.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many writes the thread has not taken yet.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.queue.lock().jobs.len()
    }

    pub(super) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.queue.commits.load(Ordering::Relaxed),
            writes: self.queue.writes.load(Ordering::Relaxed),
            lost: self.queue.lost.load(Ordering::Relaxed),
        }
    }

    /// Why the last commit failed, if it did.
    pub(super) fn failing(&self) -> Option<String> {
        self.queue.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        self.queue.lock().is_closed = true;
        self.queue.filled.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic there was reported there.
            let _ = thread.join();
        }
    }
}

impl State {
    /// How long the next job may wait for company. Where many came together last time, as many are likely to come
    /// again: they share a sync. Whoever writes alone never waits.
    fn patience(&self, is_awaited: bool) -> Duration {
        let queued = self.jobs.len() + 1;
        match is_awaited {
            _ if queued >= STORE_BATCH => Duration::ZERO,
            false => STORE_LINGER,
            true if self.crowd >= STORE_CROWD && queued < self.crowd => STORE_GATHER,
            true => Duration::ZERO,
        }
    }
}

impl Queue {
    fn push(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(StoreError::Unavailable { why: "the writer has ended".to_owned() });
        }
        if state.jobs.len() >= STORE_QUEUE {
            return Err(StoreError::Unavailable { why: "too many writes are waiting".to_owned() });
        }
        let now = Instant::now();
        let due = now + state.patience(job.is_awaited());
        let is_sooner = state.due.is_none_or(|known| due < known);
        if is_sooner {
            state.due = Some(due);
        }
        state.jobs.push_back(job);
        drop(state);
        if is_sooner {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Everything that waits, up to a batch, when it is due; none when the queue is closed and empty.
    fn take(&self) -> Option<Vec<Box<dyn Job>>> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            state = match state.due {
                Some(due) if due <= now || state.is_closed => break,
                Some(due) => {
                    let waited = self.filled.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None if state.is_closed => return None,
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        let batch = state.jobs.len().min(STORE_BATCH);
        let jobs = state.jobs.drain(..batch).collect();
        state.crowd = batch;
        state.due = (!state.jobs.is_empty()).then(Instant::now);
        Some(jobs)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the queue however the thread ends: nobody may wait for one that is gone.
struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        state.jobs.clear();
    }
}

fn serve(queue: &Queue, connection: &Connection, watchers: &Watchers, mut chain: Chain) {
    let _closing = Closing(queue);
    let mut checkpoints = Checkpoints::new();
    while let Some(mut jobs) = queue.take() {
        let mut batch = Batch::new(connection, chain);
        let committed = commit(&mut batch, &mut jobs);
        let failure = committed.as_ref().err().or(batch.trouble.as_ref()).map(ToString::to_string);
        *queue.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        match &committed {
            Ok(()) => {
                queue.commits.fetch_add(1, Ordering::Relaxed);
                queue.writes.fetch_add(jobs.len() as u64, Ordering::Relaxed);
                chain = batch.chain.in_new_transaction();
                watchers.wake(batch.touched());
                if batch.is_push_waiting() {
                    watchers.wake_pushes();
                }
            }
            Err(error) => {
                tracing::error!(%error, "a commit failed");
                let lost = jobs.iter().filter(|job| !job.is_awaited()).count();
                queue.lost.fetch_add(lost as u64, Ordering::Relaxed);
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
