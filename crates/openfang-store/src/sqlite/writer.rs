//! The one writing thread of this process. All queued writes go into one transaction. Each caller is answered after the
//! commit of its write, or told that the commit failed.
//!
//! `queue.rs` has the queued writes, `rows.rs` the audit rows without a waiting caller, `serve.rs` the thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use openfang_types::ids::Owner;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::audit::Chain;
use super::checkpoint::Checkpoints;
use super::reserve::Reserve;
use super::schema::OpenError;
use super::unavailable;
use super::watchers::Watchers;
use crate::{Quota, StoreError, StoreFuture, WriteStats};

pub(super) use super::batch::Batch;
use queue::{Job, Queue};
use rows::Gaps;
pub(super) use rows::LateRow;
use serve::Server;

mod queue;
mod rows;
mod serve;

/// The writing thread. It ends when this is dropped, after the queued writes.
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the thread shares with its callers.
#[derive(Default)]
struct Shared {
    queue: Queue,
    commits: AtomicU64,
    writes: AtomicU64,
    lost: AtomicU64,
    gaps: Gaps,
    failure: Mutex<Option<String>>,
    quota: Arc<Quota>,
    /// Why new work is refused, if it is.
    refusal: Mutex<Option<&'static str>>,
    is_refusing: AtomicBool,
    /// Whether the log has reached its maximum length. Then rows that can be counted are not written.
    is_log_full: AtomicBool,
}

/// The state of the thread.
pub(super) struct Workplace {
    pub(super) connection: Connection,
    pub(super) chain: Chain,
    pub(super) checkpoints: Checkpoints,
    pub(super) reserve: Reserve,
}

impl Shared {
    fn count_lost(&self, row: &LateRow) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.gaps.add(row);
    }
}

struct TypedJob<F, T> {
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: Option<oneshot::Sender<Result<T, StoreError>>>,
    /// Whether it waits a moment for a commit that it can share.
    is_patient: bool,
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

    fn answer(mut self: Box<Self>, committed: Result<(), StoreError>) -> Option<LateRow> {
        let outcome = committed.and_then(|()| self.outcome.take().unwrap_or(Err(StoreError::Conflict)));
        if let Some(reply) = self.reply.take() {
            // The caller may have stopped waiting.
            let _ = reply.send(outcome);
        }
        None
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_some() && !self.is_patient
    }

    fn crowding(&self) -> Option<&Owner> {
        None
    }
}

impl Writer {
    pub(super) fn start(workplace: Workplace, watchers: Arc<Watchers>) -> Result<Self, OpenError> {
        let shared = Arc::<Shared>::default();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || Server::new(&served, &watchers, workplace).serve())
            .map_err(OpenError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Queues a write. The future completes when it is durable.
    pub(super) fn write<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(work, false)
    }

    /// Queues a write that shares the commit of the next one, or is written a moment later.
    pub(super) fn write_beside<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(work, true)
    }

    fn queue<T, F>(&self, work: F, is_patient: bool) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = TypedJob { work: Some(work), outcome: None, reply: Some(reply), is_patient };
        let queued = self.shared.queue.push(Box::new(job));
        Box::pin(async move {
            queued?;
            let ended = || StoreError::Unavailable { why: "the writer has ended".to_owned() };
            answer.await.unwrap_or_else(|_| Err(ended()))
        })
    }

    /// Queues new work, unless the remaining space is reserved for work in progress.
    pub(super) fn write_new<T, F>(&self, work: F) -> StoreFuture<'static, T>
    where
        F: FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        match self.refusal() {
            None => self.write(work),
            Some(why) => {
                self.look_again();
                Box::pin(std::future::ready(Err(StoreError::Unavailable { why: why.to_owned() })))
            }
        }
    }

    /// How much an owner may keep.
    pub(super) fn quota(&self) -> Arc<Quota> {
        Arc::clone(&self.shared.quota)
    }

    /// Queues an audit row without a waiting caller. It joins the next commit, or is written a moment later. Without
    /// room it is counted.
    pub(super) fn write_row(&self, row: LateRow) {
        let is_counted = !row.is_kept && self.is_log_full();
        let queued = if is_counted { Err(row) } else { self.shared.queue.push_row(row) };
        if let Err(row) = queued {
            self.shared.count_lost(&row);
        }
    }

    /// Whether writes are accepted and done as fast as they arrive.
    pub(super) fn keeps_up(&self) -> bool {
        !self.shared.is_refusing.load(Ordering::Relaxed) && !self.shared.queue.is_crowded()
    }

    fn is_log_full(&self) -> bool {
        self.shared.is_log_full.load(Ordering::Relaxed)
    }

    /// Why new work is refused, if it is.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        *self.shared.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the thread check whether there is room again.
    fn look_again(&self) {
        let nothing = |_: &mut Batch<'_>| Ok(());
        let job = TypedJob { work: Some(nothing), outcome: None, reply: None, is_patient: true };
        // If the queue is full, the thread checks anyway.
        let _ = self.shared.queue.push(Box::new(job));
    }

    /// The number of queued writes.
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

    /// Why the last commit failed, if it did, or why new work is refused.
    pub(super) fn failing(&self) -> Option<String> {
        let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        failure.or_else(|| self.refusal().map(str::to_owned))
    }

    /// A write that changes nothing but must be committed. If the log has reached its maximum length, it is only
    /// checked.
    pub(super) fn probe(&self) -> StoreFuture<'static, ()> {
        if self.is_log_full() {
            return self.write(|_| Ok(()));
        }
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
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
