//! Who waits for which task. Commits of this process wake them at once; commits of others are noticed by looking at
//! `PRAGMA data_version`, and only while somebody waits is anything else read.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use openfang_types::event::Seq;
use openfang_types::ids::TaskId;
use openfang_types::limits::STORE_POLL;
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::watch;

use super::schema::OpenError;

#[derive(Default)]
pub(super) struct Watchers {
    tasks: Mutex<HashMap<TaskId, watch::Sender<Seq>>>,
    elsewhere: watch::Sender<u64>,
    pushes: watch::Sender<u64>,
}

impl Watchers {
    /// A channel for a task that stands at `seq`.
    pub(super) fn watch(&self, task: TaskId, seq: Seq) -> watch::Receiver<Seq> {
        let mut tasks = self.lock();
        tasks.retain(|_, latest| latest.receiver_count() > 0);
        let latest = tasks.entry(task).or_insert_with(|| watch::Sender::new(seq));
        latest.subscribe()
    }

    /// A channel that changes with every commit of another process.
    pub(super) fn elsewhere(&self) -> watch::Receiver<u64> {
        self.elsewhere.subscribe()
    }

    /// A channel that changes when this process wrote something that is to be delivered.
    pub(super) fn pushes(&self) -> watch::Receiver<u64> {
        self.pushes.subscribe()
    }

    /// Tells who delivers.
    pub(super) fn wake_pushes(&self) {
        self.pushes.send_modify(|changes| *changes += 1);
    }

    /// Tells who waits.
    pub(super) fn wake(&self, touched: &[(TaskId, Seq)]) {
        let tasks = self.lock();
        if tasks.is_empty() {
            return;
        }
        for (task, seq) in touched {
            if let Some(latest) = tasks.get(task) {
                latest.send_if_modified(|known| {
                    let is_newer = *seq > *known;
                    *known = (*known).max(*seq);
                    is_newer
                });
            }
        }
    }

    fn watched(&self) -> Vec<TaskId> {
        self.lock().keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, watch::Sender<Seq>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that looks for commits of other processes; it ends when this is dropped.
pub(super) struct Follower {
    closing: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub(super) fn start(connection: Connection, watchers: Arc<Watchers>) -> Result<Self, OpenError> {
        let (closing, closed) = mpsc::sync_channel(0);
        // Here and not in the thread, which may begin late: what others write from now on must be noticed.
        let known = data_version(&connection);
        let thread = std::thread::Builder::new()
            .name("store-watcher".to_owned())
            .spawn(move || follow(&connection, known, &watchers, &closed))
            .map_err(OpenError::Thread)?;
        Ok(Self { closing: Some(closing), thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.closing = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported there.
            let _ = thread.join();
        }
    }
}

fn follow(connection: &Connection, mut known: Option<i64>, watchers: &Watchers, closed: &Receiver<()>) {
    while closed.recv_timeout(STORE_POLL) == Err(RecvTimeoutError::Timeout) {
        let version = data_version(connection);
        if version == known {
            continue;
        }
        known = version;
        let latest = |task: TaskId| latest_seq(connection, task).map(|seq| (task, seq));
        let touched: Vec<(TaskId, Seq)> = watchers.watched().into_iter().filter_map(latest).collect();
        watchers.wake(&touched);
        watchers.elsewhere.send_modify(|changes| *changes += 1);
    }
}

/// Changes when any other connection committed, also those of this process: then nothing newer is found.
fn data_version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
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
