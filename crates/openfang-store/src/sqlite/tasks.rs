//! Tasks in SQLite: a row for each task, and a row of events for each write. Reading a task applies its events, or
//! reads the result that was stored when they were folded.
//!
//! `write.rs` runs on the writer's thread, inside its transactions: JSON is encoded before and never parsed there.
//! `read.rs`, `list.rs` and `heads.rs` read, each in one snapshot. `retain.rs` folds and evicts a few tasks per
//! transaction. `transcripts.rs` has what agents remember of conversations, `pushes.rs` the push configurations,
//! `remotes.rs` the tasks that other servers work on.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use openfang_types::event::{Seq, TaskEvent};
use openfang_types::ids::{NodeId, Owner, TaskId, TaskName};
use openfang_types::limits::STORE_RESERVED_WRITE_BYTES;
use openfang_types::principal::Door;
use openfang_types::task::TaskState;
use tokio::sync::watch;

use super::Sqlite;
use crate::{
    Append, Created, EventsAfter, Fit, NewTask, Retention, RetentionReport, Stamp, StoreFuture, Tail, TaskPage,
    TaskQuery, TaskRecord, TaskStore,
};

pub(super) mod columns;
mod heads;
mod list;
mod pushes;
mod read;
mod remotes;
mod retain;
mod transcripts;
mod write;

pub(super) use pushes::SqlitePushes;
pub(super) use remotes::SqliteRemotes;
pub(super) use transcripts::SqliteTranscripts;

/// The tasks of a database.
pub(super) struct SqliteTasks {
    sqlite: Sqlite,
}

impl SqliteTasks {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl TaskStore for SqliteTasks {
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created> {
        match write::Creation::of(new) {
            Ok(creation) => self.sqlite.write_new(move |batch| creation.run(batch)),
            Err(refused) => Box::pin(std::future::ready(Err(refused))),
        }
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        let owner = owner.clone();
        self.sqlite.read_within(usize::MAX, move |connection| read::own(connection, &owner, id))
    }

    fn get_within<'a>(&'a self, owner: &'a Owner, id: TaskId, max_bytes: usize) -> StoreFuture<'a, Fit<TaskRecord>> {
        let owner = owner.clone();
        self.sqlite
            .read_within(max_bytes, move |connection| read::own_within(connection, &owner, id, max_bytes))
    }

    fn head<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| heads::own(connection, &owner, id))
    }

    fn find<'a>(&'a self, owner: &'a Owner, name: &'a TaskName) -> StoreFuture<'a, TaskId> {
        let (owner, name) = (owner.clone(), name.clone());
        self.sqlite.read(move |connection| read::find(connection, &owner, &name))
    }

    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage> {
        let query = query.clone();
        self.sqlite.read(move |connection| list::page(connection, &query))
    }

    fn list_within<'a>(&'a self, query: &'a TaskQuery, max_bytes: usize) -> StoreFuture<'a, Fit<TaskPage>> {
        let query = query.clone();
        self.sqlite
            .read_within(max_bytes, move |connection| list::page_within(connection, &query, max_bytes))
    }

    fn counts<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, BTreeMap<TaskState, u64>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| list::counts(connection, &owner))
    }

    fn append(&self, write: Append) -> StoreFuture<'_, Stamp> {
        let tail = self.sqlite.inner.watchers.followed(&write.owner, write.id);
        match write::Addition::of(write, tail) {
            // Work in progress may end on a full disk, but must not fill the remaining space.
            Ok(addition) if addition.bytes() > STORE_RESERVED_WRITE_BYTES => {
                self.sqlite.write_new(move |batch| addition.run(batch))
            }
            Ok(addition) => self.sqlite.write(move |batch| addition.run(batch)),
            Err(refused) => Box::pin(std::future::ready(Err(refused))),
        }
    }

    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| read::events(connection, &owner, id, after, limit))
    }

    fn events_within<'a>(
        &'a self,
        owner: &'a Owner,
        id: TaskId,
        place: EventsAfter,
    ) -> StoreFuture<'a, Fit<Vec<TaskEvent>>> {
        let owner = owner.clone();
        self.sqlite
            .read_within(place.max_bytes, move |connection| read::events_within(connection, &owner, id, place))
    }

    fn tail(&self, owner: &Owner, id: TaskId) -> Option<Arc<Tail>> {
        self.sqlite.inner.watchers.tail(owner, id)
    }

    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>> {
        Box::pin(async move {
            let watchers = &self.sqlite.inner.watchers;
            // Subscribed before the row is read, so that a write in between is not missed.
            let mut latest = watchers.watch(id, 0);
            let owner = owner.clone();
            let seq = self.sqlite.read(move |connection| read::seq(connection, &owner, id)).await?;
            watchers.wake(&[(id, seq)]);
            latest.mark_unchanged();
            Ok(latest)
        })
    }

    fn request_cancel<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.sqlite.write(move |batch| write::request_cancel(batch, &owner, id))
    }

    fn cancel_requests(&self, node: NodeId) -> StoreFuture<'_, Vec<TaskId>> {
        self.sqlite.read(move |connection| read::cancel_requests(connection, node))
    }

    fn orphans<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<TaskRecord>> {
        let living = living.to_vec();
        self.sqlite.read(move |connection| read::orphans(connection, &living))
    }

    fn scope(&self, id: TaskId) -> StoreFuture<'_, Option<String>> {
        self.sqlite.read(move |connection| read::scope(connection, id))
    }

    fn door(&self, id: TaskId) -> StoreFuture<'_, Option<Door>> {
        self.sqlite.read(move |connection| read::door(connection, id))
    }

    fn claim(&self, id: TaskId, version: u64, node: NodeId) -> StoreFuture<'_, Stamp> {
        self.sqlite.write(move |batch| write::claim(batch, id, version, node))
    }

    fn retain(&self, rule: Retention, now: Timestamp) -> StoreFuture<'_, RetentionReport> {
        Box::pin(retain::retain(&self.sqlite, rule, now))
    }

    fn elsewhere(&self) -> watch::Receiver<u64> {
        self.sqlite.inner.watchers.elsewhere()
    }
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
