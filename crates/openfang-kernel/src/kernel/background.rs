//! What goes on beside the requests: the tasks of dead processes, users and settings that change, what is older than we keep,
//! a store that failed.

use std::time::Duration;

use openfang_store::{AuditRetention, Retention, StoreError};
use openfang_types::limits::{RETENTION_ROUND, USAGE_DAYS, WATCH_OVER};

use super::Kernel;
use crate::KernelError;
use crate::tasks::push::PushMetrics;

impl Kernel {
    /// Starts what goes on beside the requests, until the kernel is drained. A server does this; a command that runs
    /// for a moment only calls [`Kernel::recover`].
    pub fn start_background_agents(&self) {
        let draining = self.parts.life.draining();
        let spawn = |work: BackgroundWork| {
            let stop = draining.clone();
            self.parts.life.tracker().spawn(async move { stop.run_until_cancelled(work).await });
        };
        self.heed_cancel_requests();
        self.parts.integrity.check_after_unclean_end();
        spawn(Box::pin(self.parts.access.clone().heed_account_changes()));
        spawn(Box::pin(self.clone().watch_over()));
        spawn(Box::pin(self.clone().retain_in_rounds()));
        spawn(Box::pin(self.clone().watch_settings()));
        spawn(Box::pin(self.clone().watch_skills()));
        let pushes = self.register_metrics(PushMetrics::register);
        spawn(Box::pin(self.parts.tasks.clone().deliver_pushes(pushes)));
        spawn(Box::pin(self.parts.schedules.clone().start_when_due()));
        spawn(Box::pin(self.parts.events.clone().deliver_when_published()));
        self.connect_mcp_servers();
        self.discover_external_agents();
    }

    /// Lets other processes cancel what runs here; [`Kernel::start_background_agents`] does that too.
    pub fn heed_cancel_requests(&self) {
        self.parts.tasks.heed_cancel_requests();
    }

    /// Settles the tasks of processes that died. Says how many there were.
    pub async fn recover(&self) -> Result<usize, KernelError> {
        self.parts.tasks.recover().await
    }

    /// Goes on with scheduled runs and deliveries of events that processes claimed and did not live to end. A server does
    /// this by itself.
    pub async fn take_over_claims(&self) -> Result<(), KernelError> {
        self.parts.schedules.recover().await?;
        self.parts.events.recover().await
    }

    async fn watch_over(self) {
        let mut due = tokio::time::interval(WATCH_OVER);
        loop {
            due.tick().await;
            if let Err(error) = self.recover().await {
                tracing::warn!(%error, "the tasks of dead processes could not be looked at");
            }
            if let Err(error) = self.take_over_claims().await {
                tracing::warn!(%error, "the claims of dead processes could not be looked at");
            }
            self.parts.stores.audit.write_counts(self.parts.clock.now());
            let health = &self.parts.stores.health;
            if health.failing().is_some() && health.probe().await.is_ok() && health.failing().is_none() {
                tracing::info!("the store can be written again");
            }
            if self.parts.stores.health.unreadable().is_some() {
                self.parts.integrity.check_whole();
            }
        }
    }

    async fn retain_in_rounds(self) {
        let mut due = tokio::time::interval(RETENTION_ROUND);
        loop {
            due.tick().await;
            let config = self.config();
            let rule = Retention {
                finished_per_owner: config.storage.finished_tasks,
                finished_for: Duration::from_secs(u64::from(config.storage.finished_days) * 86_400),
                fold_after: Duration::from_secs(u64::from(config.storage.fold_hours) * 3_600),
                transcripts_for: Duration::from_secs(u64::from(config.storage.transcript_days) * 86_400),
            };
            match self.parts.stores.tasks.retain(rule, self.parts.clock.now()).await {
                Ok(done) => tracing::debug!(done.evicted, done.folded, "retention"),
                Err(error) => tracing::warn!(%error, "old tasks were not evicted"),
            }
            match self.forget_removed_files().await {
                Ok(forgotten) => tracing::debug!(forgotten, "records of files that are gone"),
                Err(error) => tracing::warn!(%error, "records of files that are gone were not forgotten"),
            }
            match self.delete_expired_results().await {
                Ok(deleted) => tracing::debug!(deleted, "kept results that have expired"),
                Err(error) => tracing::warn!(%error, "kept results that have expired were not deleted"),
            }
            if let Err(error) = self.forget_old_usage().await {
                tracing::warn!(%error, "old usage of models was not deleted");
            }
            if let Err(error) = self.parts.stores.users.purge(self.parts.clock.now()).await {
                tracing::warn!(%error, "logins that are over were not forgotten");
            }
            let rule = AuditRetention::from(&config.audit);
            let rotated = self.parts.stores.audit.rotate(rule, self.parts.clock.now()).await;
            if let Err(error) = rotated {
                tracing::warn!(%error, "old audit segments were not cut");
            }
        }
    }

    /// Forgets what is known of workspace files that somebody removed by hand. Says how many there were.
    pub async fn forget_removed_files(&self) -> Result<usize, StoreError> {
        self.parts.files.sweep().await
    }

    /// Deletes kept results that have expired, and approvals that did long ago. Says how many there were.
    pub async fn delete_expired_results(&self) -> Result<usize, StoreError> {
        let (stores, now) = (&self.parts.stores, self.parts.clock.now());
        Ok(stores.results.delete_expired(now).await? + stores.approvals.delete_expired(now).await?)
    }

    async fn forget_old_usage(&self) -> Result<usize, StoreError> {
        let kept = Duration::from_secs(USAGE_DAYS * 86_400);
        self.parts.stores.usage.delete_before(self.parts.clock.now() - kept).await
    }

    /// Lets the MCP servers go, ends this process's part of the audit log in order, and waits until everything that was queued is written.
    pub async fn close(&self) {
        self.parts.upstreams.close().await;
        self.parts.external.peers().close().await;
        self.parts.access.note_key_uses().await;
        let sealed = self.parts.stores.audit.seal(self.parts.clock.now()).await;
        if let Err(error) = sealed.and(self.parts.stores.health.probe().await) {
            tracing::warn!(%error, "the store was not closed in order");
        }
    }
}

type BackgroundWork = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
