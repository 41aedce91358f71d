//! Watchers of tasks. Commits of this process wake them immediately. Commits of other processes are found by polling
//! `PRAGMA data_version`; only after a change is anything else read for the watchers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use openfang_types::event::Seq;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::STORE_POLL;
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::watch;

use super::schema::OpenError;
use crate::tail::Tail;

#[derive(Default)]
pub(super) struct Watchers {
    tasks: Mutex<Watched>,
    elsewhere: watch::Sender<u64>,
    pushes: watch::Sender<u64>,
    background: watch::Sender<u64>,
    /// Commits of this process.
    commits: AtomicU64,
    /// Whether the writer found a commit of another process before one of its own.
    is_overtaken: AtomicBool,
}

#[derive(Default)]
struct Watched {
    latest: HashMap<TaskId, Watch>,
    /// The number of entries at which unused ones are removed.
    sweep_at: usize,
}

/// A task that somebody waits for.
struct Watch {
    latest: watch::Sender<Seq>,
    /// Those who follow the task hold it.
    tail: Weak<Tail>,
}

impl Watch {
    fn at(seq: Seq) -> Self {
        Self { latest: watch::Sender::new(seq), tail: Weak::new() }
    }
}

impl Watched {
    /// Removes entries without a watcher.
    fn sweep(&mut self) {
        self.latest.retain(|_, watch| watch.latest.receiver_count() > 0);
        self.sweep_at = 2 * self.latest.len() + 1;
    }
}

impl Watchers {
    /// A channel for a task whose last event is `seq`.
    pub(super) fn watch(&self, task: TaskId, seq: Seq) -> watch::Receiver<Seq> {
        let mut tasks = self.lock();
        if tasks.latest.len() >= tasks.sweep_at {
            tasks.sweep();
        }
        let watch = tasks.latest.entry(task).or_insert_with(|| Watch::at(seq));
        watch.latest.subscribe()
    }

    /// The tail of a task that is watched, for one who follows it.
    pub(super) fn tail(&self, owner: &Owner, task: TaskId) -> Option<Arc<Tail>> {
        let mut tasks = self.lock();
        let watch = tasks.latest.get_mut(&task)?;
        let held = watch.tail.upgrade().filter(|tail| tail.owner() == owner);
        Some(held.unwrap_or_else(|| {
            let tail = Arc::new(Tail::of(owner.clone()));
            watch.tail = Arc::downgrade(&tail);
            tail
        }))
    }

    /// The tail of a task, if somebody follows it.
    pub(super) fn followed(&self, owner: &Owner, task: TaskId) -> Option<Arc<Tail>> {
        let tasks = self.lock();
        tasks.latest.get(&task)?.tail.upgrade().filter(|tail| tail.owner() == owner)
    }

    /// Records that another process has committed since the writer's last transaction.
    pub(super) fn overtaken(&self) {
        self.is_overtaken.store(true, Ordering::Release);
    }

    pub(super) fn committed(&self) {
        self.commits.fetch_add(1, Ordering::Release);
    }

    /// A channel that changes with every commit of another process, and with commits of this process that ask for it.
    pub(super) fn elsewhere(&self) -> watch::Receiver<u64> {
        self.elsewhere.subscribe()
    }

    /// Wakes the watchers of other processes' commits.
    pub(super) fn wake_elsewhere(&self) {
        self.elsewhere.send_modify(|changes| *changes += 1);
    }

    /// A channel that changes when this process wrote an event to deliver.
    pub(super) fn pushes(&self) -> watch::Receiver<u64> {
        self.pushes.subscribe()
    }

    pub(super) fn wake_pushes(&self) {
        self.pushes.send_modify(|changes| *changes += 1);
    }

    /// A channel that changes when there may be work that starts by itself, whichever process wrote it.
    pub(super) fn background(&self) -> watch::Receiver<u64> {
        self.background.subscribe()
    }

    pub(super) fn wake_background(&self) {
        self.background.send_modify(|changes| *changes += 1);
    }

    pub(super) fn wake(&self, touched: &[(TaskId, Seq)]) {
        let tasks = self.lock();
        if tasks.latest.is_empty() {
            return;
        }
        for (task, seq) in touched {
            if let Some(watch) = tasks.latest.get(task) {
                watch.latest.send_if_modified(|known| {
                    let is_newer = *seq > *known;
                    *known = (*known).max(*seq);
                    is_newer
                });
            }
        }
    }

    fn watched(&self) -> Vec<TaskId> {
        let mut tasks = self.lock();
        tasks.sweep();
        tasks.latest.keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that polls for commits of other processes. It ends when this is dropped.
pub(super) struct Follower {
    closing: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub(super) fn start(connection: Connection, watchers: Arc<Watchers>) -> Result<Self, OpenError> {
        let (closing, closed) = mpsc::sync_channel(0);
        // Read here and not in the thread, which may start late: every later commit must be noticed.
        let known = data_version(&connection);
        let thread = std::thread::Builder::new()
            .name("store-watcher".to_owned())
            .spawn(move || {
                let mut signs = Signs::new(known, &watchers);
                while closed.recv_timeout(STORE_POLL) == Err(RecvTimeoutError::Timeout) {
                    look(&connection, &mut signs, &watchers);
                }
            })
            .map_err(OpenError::Thread)?;
        Ok(Self { closing: Some(closing), thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.closing = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}

fn look(connection: &Connection, signs: &mut Signs, watchers: &Watchers) {
    if signs.of_others(connection, watchers) {
        let latest = |task: TaskId| latest_seq(connection, task).map(|seq| (task, seq));
        let touched: Vec<(TaskId, Seq)> = watchers.watched().into_iter().filter_map(latest).collect();
        watchers.wake(&touched);
        watchers.wake_elsewhere();
        watchers.wake_background();
    }
}

/// What is known about commits and their processes. The version changes with commits of this process too. Reading after
/// each of those would cost more than the commits if there are many watchers.
struct Signs {
    version: Option<i64>,
    commits: u64,
    /// Whether the last change may include a commit of another process.
    is_unsure: bool,
}

impl Signs {
    fn new(version: Option<i64>, watchers: &Watchers) -> Self {
        Self { version, commits: watchers.commits.load(Ordering::Acquire), is_unsure: false }
    }

    /// Whether another process may have written something that was not read yet. A commit of another process between
    /// commits of ours is found by the writer at its next transaction. A later one is found when this process is idle.
    fn of_others(&mut self, connection: &Connection, watchers: &Watchers) -> bool {
        let commits = watchers.commits.load(Ordering::Acquire);
        let version = data_version(connection);
        let is_quiet = commits == self.commits;
        let is_changed = version != self.version || self.is_unsure;
        (self.commits, self.version) = (commits, version);
        let is_found = watchers.is_overtaken.swap(false, Ordering::AcqRel) || (is_changed && is_quiet);
        self.is_unsure = is_changed && !is_found;
        is_found
    }
}

/// Changes when any other connection has committed, including those of this process.
pub(super) fn data_version(connection: &Connection) -> Option<i64> {
    let mut statement = connection.prepare_cached("PRAGMA data_version").ok()?;
    statement.query_row([], |row| row.get(0)).ok()
}

fn latest_seq(connection: &Connection, task: TaskId) -> Option<Seq> {
    let sql = "SELECT seq FROM a2a_tasks WHERE id = ?1";
    let found = connection.prepare_cached(sql).and_then(|mut statement| {
        statement
            .query_row([task.as_uuid().as_bytes().as_slice()], |row| row.get::<_, i64>(0))
            .optional()
    });
    u64::try_from(found.ok()??).ok()
}

#[cfg(test)]
#[path = "watchers_tests.rs"]
mod tests;
