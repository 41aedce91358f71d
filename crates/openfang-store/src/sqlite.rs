//! The SQLite store: one file, shared by processes. One thread per process writes, many writes per commit; readers run
//! in parallel. Watchers within the process are woken by the commit, those in other processes by polling
//! `data_version`.

use std::path::Path;
use std::sync::Arc;

use openfang_types::ids::NodeId;
use openfang_types::limits::STORE_LOG_PAGES;
use rusqlite::Connection;
use uuid::Uuid;

use crate::{RefusalLimits, StoreError, StoreFuture, StoreHealth, Stores, WriteStats};
use approvals::SqliteApprovals;
use audit::{Chain, SegmentLimits, SqliteAudit};
use batch::Batch;
use checkpoint::Checkpoints;
use events::SqliteEvents;
use files::SqliteFiles;
use key_value::SqliteKeyValues;
use queue::SqliteQueue;
use readers::Readers;
use reserve::Reserve;
use results::SqliteResults;
use schedules::SqliteSchedules;
use schema::Expected;
use tasks::{SqlitePushes, SqliteRemotes, SqliteTasks, SqliteTranscripts};
use usage::SqliteUsage;
use users::SqliteUsers;
use watchers::{Follower, Watchers};
use writer::{Workplace, Writer};

mod approvals;
mod audit;
mod batch;
mod checkpoint;
mod events;
mod files;
mod identity;
mod key_value;
mod maintenance;
mod queue;
mod readers;
mod reserve;
mod results;
mod schedules;
mod schema;
mod tasks;
mod usage;
mod users;
mod watchers;
mod writer;

pub use maintenance::{CheckInterrupter, DatabaseFile, Finding, MaintenanceError, Report};
pub use schema::{Loss, OpenError};

#[derive(Clone)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

/// The writer is closed last: only a writable connection can remove the log and leave nothing behind.
struct Inner {
    watchers: Arc<Watchers>,
    _follower: Follower,
    readers: Readers,
    writer: Writer,
    home: Uuid,
}

impl Sqlite {
    /// Opens the file, creates it if it is missing, and updates its schema.
    pub fn open(path: &Path, node: NodeId) -> Result<Self, OpenError> {
        Self::open_with(path, Chain::new(node, SegmentLimits::default()), Expected::Anything, STORE_LOG_PAGES)
    }

    /// Opens an existing database of any home and updates its schema. A missing or empty one is refused and not
    /// changed.
    pub fn open_existing(path: &Path, node: NodeId) -> Result<Self, OpenError> {
        Self::open_with(path, Chain::new(node, SegmentLimits::default()), Expected::Database, STORE_LOG_PAGES)
    }

    /// Opens the database of the home with this id. A missing or empty one, or one of another home, is refused and not
    /// changed.
    pub fn open_known(path: &Path, node: NodeId, home: Uuid) -> Result<Self, OpenError> {
        Self::open_with(path, Chain::new(node, SegmentLimits::default()), Expected::Home(home), STORE_LOG_PAGES)
    }

    fn open_with(path: &Path, chain: Chain, expected: Expected, log_pages: u64) -> Result<Self, OpenError> {
        let (connection, home) = schema::open(path, expected)?;
        let watchers = Arc::new(Watchers::default());
        let (checkpoints, reserve) = (Checkpoints::new(log_pages), Reserve::beside(path));
        let writer = Writer::start(Workplace { connection, chain, checkpoints, reserve }, Arc::clone(&watchers))?;
        let readers = Readers::new(path.to_owned());
        let following = readers::open(path).map_err(OpenError::Sqlite)?;
        let follower = Follower::start(following, Arc::clone(&watchers))?;
        let inner = Inner { watchers, _follower: follower, readers, writer, home };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The id of the home that this database belongs to.
    pub fn home(&self) -> Uuid {
        self.inner.home
    }

    /// The stores of this database.
    pub fn stores(&self) -> Stores {
        self.stores_with(RefusalLimits::default())
    }

    /// The stores of this database, with these limits for refusal rows.
    pub fn stores_with(&self, refusals: RefusalLimits) -> Stores {
        Stores {
            tasks: Arc::new(SqliteTasks::new(self.clone())),
            transcripts: Arc::new(SqliteTranscripts::new(self.clone())),
            pushes: Arc::new(SqlitePushes::new(self.clone())),
            remotes: Arc::new(SqliteRemotes::new(self.clone())),
            memory: Arc::new(SqliteKeyValues::new(self.clone())),
            audit: Arc::new(SqliteAudit::new(self.clone(), refusals)),
            users: Arc::new(SqliteUsers::new(self.clone())),
            usage: Arc::new(SqliteUsage::new(self.clone())),
            files: Arc::new(SqliteFiles::new(self.clone())),
            results: Arc::new(SqliteResults::new(self.clone())),
            queue: Arc::new(SqliteQueue::new(self.clone())),
            events: Arc::new(SqliteEvents::new(self.clone())),
            schedules: Arc::new(SqliteSchedules::new(self.clone())),
            approvals: Arc::new(SqliteApprovals::new(self.clone())),
            health: Arc::new(self.clone()),
            quota: self.inner.writer.quota(),
        }
    }

    /// A write, in the next commit. Returns when it is durable.
    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.inner.writer.write(work)
    }

    /// A write that shares the commit of the next one, or is written a moment later.
    fn write_beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.inner.writer.write_beside(work)
    }

    /// A write that starts new work. It is refused while the remaining space is reserved for work in progress.
    fn write_new<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.inner.writer.write_new(work)
    }

    /// A read on a thread that may block. It sees everything that was durable when it was queued.
    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.inner.readers.read(work)
    }

    /// A read of up to so many bytes. Small reads do not wait for large ones.
    fn read_within<T: Send + 'static>(
        &self,
        max_bytes: usize,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.inner.readers.read_within(max_bytes, work)
    }
}

impl StoreHealth for Sqlite {
    fn failing(&self) -> Option<String> {
        self.inner.writer.failing()
    }

    fn unreadable(&self) -> Option<String> {
        self.inner.readers.failing()
    }

    fn probe(&self) -> StoreFuture<'_, ()> {
        self.inner.writer.probe()
    }

    fn stats(&self) -> WriteStats {
        self.inner.writer.stats()
    }
}

/// The error of SQLite as a store error.
fn unavailable(error: rusqlite::Error) -> StoreError {
    StoreError::Unavailable { why: error.to_string() }
}

/// The content of the file is invalid.
fn damaged(what: &str) -> StoreError {
    StoreError::Unavailable { why: format!("the database holds {what}; run `openfang db check`") }
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
