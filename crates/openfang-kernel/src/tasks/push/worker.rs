//! Finds what is due and hands it out. It is woken by what this process writes, by what others write, by places that
//! become free, and by time; whatever its clock says, it looks every few seconds.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use openfang_store::{DueQuery, PushRow, StoreError};
use openfang_types::limits::{PUSH_LEASE, PUSH_LOOK, WATCH_OVER};
use tokio::time::Instant;

use super::delivery::Delivery;
use super::metrics::PushMetrics;
use super::pace::{Pace, Turn};
use crate::tasks::Tasks;

/// Delivers for one process.
pub(super) struct Worker {
    tasks: Tasks,
    pace: Arc<Pace>,
    metrics: PushMetrics,
}

impl Worker {
    pub(super) fn new(tasks: Tasks, metrics: PushMetrics) -> Self {
        Self { tasks, pace: Arc::default(), metrics }
    }

    /// Works until it is dropped. What is under way then is done with by the tracker.
    pub(super) async fn run(self) {
        let inner = &self.tasks.inner;
        let (mut here, mut elsewhere) = (inner.pushes.waiting(), inner.store.elsewhere());
        loop {
            here.mark_unchanged();
            elsewhere.mark_unchanged();
            let pause = self.round().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "what is to be pushed could not be looked at");
                WATCH_OVER
            });
            tokio::select! {
                Ok(()) = here.changed() => {}
                Ok(()) = elsewhere.changed() => {}
                () = self.pace.freed() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Hands out what is due, as far as there is room. Says how long nothing more can be done.
    async fn round(&self) -> Result<Duration, StoreError> {
        loop {
            let limit = self.pace.room();
            if limit == 0 {
                return Ok(PUSH_LOOK);
            }
            let (now, at) = (self.tasks.inner.clock.now(), Instant::now());
            let busy = self.pace.busy(at);
            let query = DueQuery { now, except_hosts: busy.hosts, except_owners: busy.owners, limit };
            let due = self.tasks.inner.pushes.due(query).await?;
            let pace_of = |row: PushRow| self.pace.enter(&row, at).map(|turn| (row, turn));
            let entered: Vec<(PushRow, Turn)> = due.rows.into_iter().filter_map(pace_of).collect();
            if entered.is_empty() {
                let next = due.next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
                let rested = busy.until.map(|until| until.saturating_duration_since(at));
                return Ok([next, rested].into_iter().flatten().fold(PUSH_LOOK, Duration::min));
            }
            let begun = join_all(entered.into_iter().map(|(row, turn)| self.begin(row, turn)));
            begun.await.into_iter().collect::<Result<(), StoreError>>()?;
        }
    }

    /// Claims a configuration and begins to tell it what it has missed.
    async fn begin(&self, row: PushRow, turn: Turn) -> Result<(), StoreError> {
        let inner = &self.tasks.inner;
        let until = inner.clock.now() + PUSH_LEASE;
        let claim = match inner.pushes.claim(&row, inner.node_id, until).await {
            // Another process was faster.
            Err(StoreError::Conflict) => return Ok(()),
            claim => claim?,
        };
        let delivery = Delivery::new(self.tasks.clone(), row, claim, turn, self.metrics.clone());
        inner.life.tracker().spawn(delivery.run());
        Ok(())
    }
}
