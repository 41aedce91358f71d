//! The writer thread: one transaction after the other, and the handling of rows that could not be written.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use openfang_types::limits::{STORE_BATCH, STORE_GAP_WAIT, STORE_HELD_ROWS};
use rusqlite::Connection;

use super::queue::{Job, Queue};
use super::rows::LateRow;
use super::{Batch, Shared, Workplace};
use crate::StoreError;
use crate::sqlite::unavailable;
use crate::sqlite::watchers::{Watchers, data_version};

const DISK_IS_FULL: &str = "the disk is full, and what is left of it is kept for the audit log and for work that has begun; make some room on it";
const LOG_IS_TOO_LONG: &str = "the log of the database cannot get longer: another process has been reading an old state of it for long, such as `openfang backup` or `openfang audit verify`; end that process";

pub(super) struct Server<'a> {
    shared: &'a Shared,
    watchers: &'a Watchers,
    work: Workplace,
    /// SQLite's version number, which changes with the writes of others.
    version: Option<i64>,
    /// Rows that must be written and could not be written yet.
    held: Vec<LateRow>,
}

/// Closes the queue when the thread ends in any way, so that no caller waits forever.
struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl<'a> Server<'a> {
    pub(super) fn new(shared: &'a Shared, watchers: &'a Watchers, work: Workplace) -> Self {
        let version = data_version(&work.connection);
        let server = Self { shared, watchers, work, version, held: Vec::new() };
        server.judge_room();
        server
    }

    pub(super) fn serve(mut self) {
        let _closing = Closing(&self.shared.queue);
        while let Some(jobs) = self.shared.queue.take() {
            let is_busy = jobs.len() >= STORE_BATCH;
            let is_committed = self.round(jobs);
            let is_due = self.shared.gaps.age().is_some_and(|age| !is_busy || age >= STORE_GAP_WAIT);
            if is_committed && is_due && !self.work.checkpoints.is_too_long() {
                self.round(self.shared.gaps.take());
            }
        }
        if !self.held.is_empty() || self.shared.gaps.age().is_some() {
            self.round(self.shared.gaps.take());
        }
    }

    /// Writes the queued jobs and the rows held back before. Returns whether they are committed.
    fn round(&mut self, mut jobs: Vec<Box<dyn Job>>) -> bool {
        jobs.extend(self.held.drain(..).map(LateRow::into_job));
        let (mut is_committed, mut unwritten) = self.transact(jobs);
        if !is_committed && self.work.reserve.give_back() && !unwritten.is_empty() {
            (is_committed, unwritten) = self.transact(unwritten.into_iter().map(LateRow::into_job).collect());
        }
        for row in unwritten {
            if row.is_kept && self.held.len() < STORE_HELD_ROWS {
                self.held.push(row);
            } else {
                self.shared.count_lost(&row);
            }
        }
        if is_committed {
            self.work.checkpoints.after_commit(&self.work.connection);
        }
        if !self.work.reserve.is_full() {
            self.work.reserve.fill();
        }
        self.judge_room();
        is_committed
    }

    /// Runs one transaction. Returns whether it is committed, and the rows that are not part of it.
    fn transact(&mut self, mut jobs: Vec<Box<dyn Job>>) -> (bool, Vec<LateRow>) {
        let Workplace { connection, chain, .. } = &mut self.work;
        let (shared, watchers) = (self.shared, self.watchers);
        let mut batch = Batch::new(connection, chain, &shared.quota);
        let committed = commit(&mut batch, &mut jobs);
        // On the writing connection it changes only with the commits of others.
        let seen = data_version(batch.connection);
        if std::mem::replace(&mut self.version, seen) != seen {
            watchers.overtaken();
        }
        let failure = committed.as_ref().err().or(batch.trouble.as_ref()).map(ToString::to_string);
        *shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
        match &committed {
            Ok(()) => {
                shared.commits.fetch_add(1, Ordering::Relaxed);
                shared.writes.fetch_add(jobs.len() as u64, Ordering::Relaxed);
                watchers.committed();
                batch.show_followers();
                watchers.wake(batch.touched());
                if batch.is_push_waiting() {
                    watchers.wake_pushes();
                }
                if batch.is_background_changed() {
                    watchers.wake_background();
                }
                if batch.are_accounts_changed() {
                    watchers.wake_elsewhere();
                }
            }
            Err(error) => tracing::error!(%error, "a commit failed"),
        }
        batch.chain.end_transaction(committed.is_ok());
        let unwritten = jobs.into_iter().filter_map(|job| job.answer(committed.clone())).collect();
        (committed.is_ok(), unwritten)
    }

    /// Decides whether new work is refused.
    fn judge_room(&self) {
        let refusal = match (self.work.reserve.is_full(), self.work.checkpoints.is_too_long()) {
            (false, _) => Some(DISK_IS_FULL),
            (true, true) => Some(LOG_IS_TOO_LONG),
            (true, false) => None,
        };
        let before =
            std::mem::replace(&mut *self.shared.refusal.lock().unwrap_or_else(PoisonError::into_inner), refusal);
        self.shared.is_refusing.store(refusal.is_some(), Ordering::Relaxed);
        self.shared.is_log_full.store(self.work.checkpoints.is_too_long(), Ordering::Relaxed);
        match (before, refusal) {
            (None, Some(why)) => tracing::error!("new work is refused: {why}"),
            (Some(_), None) => tracing::info!("new work is accepted again"),
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
}

/// `BEGIN IMMEDIATE` waits for other processes. With the lock, no statement can be busy.
fn commit(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let connection = batch.connection;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(unavailable)?;
    let done = run_all(batch, jobs).and_then(|()| {
        let counted = batch.write_counts();
        counted.and_then(|()| connection.execute_batch("COMMIT")).map_err(unavailable)
    });
    if done.is_err() && !connection.is_autocommit() {
        // If this fails too, the next BEGIN reports it.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// A refused job has changed nothing. A job that fails in the middle aborts the whole transaction, because half of it
/// must not be committed.
fn run_all(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let connection: &Connection = batch.connection;
    for job in jobs {
        let before = connection.total_changes();
        let done = job.run(batch);
        // SQLite may have rolled back by itself on a full disk. Further statements would run outside the transaction.
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
