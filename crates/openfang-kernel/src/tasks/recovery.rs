//! Watching over the home: tasks of processes that died, requests to cancel from other processes, a store that failed,
//! and what is older than we keep.
//!
//! After a crash, tasks that wait for their owner stay as they are. A turn whose open step may be repeated is resumed;
//! everything else that was running fails, because an effect must not happen twice. None stays working.

use std::sync::Arc;
use std::time::Duration;

use openfang_runtime::answerer::{Ending, Recovery, Turn};
use openfang_store::{AuditRetention, Retention, Stamp, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::{RETENTION_ROUND, TASK_ATTEMPTS, WATCH_OVER};
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Part, Role, TaskState};
use tokio_util::sync::CancellationToken;

use crate::kernel::{Kernel, narrowed_to};
use crate::tasks::log::TaskLog;
use crate::tasks::push::Worker;
use crate::tasks::run::Plan;
use crate::{Caller, KernelError};

impl Kernel {
    /// Starts what goes on beside the requests, until the kernel is drained. A server does this; a command that runs
    /// for a moment only calls [`Kernel::recover`].
    pub fn start_background_agents(&self) {
        let draining = self.inner.life.draining();
        let spawn = |work: BackgroundWork| {
            let stop = draining.clone();
            self.inner.life.tracker().spawn(async move { stop.run_until_cancelled(work).await });
        };
        self.heed_cancel_requests();
        self.check_after_unclean_end();
        spawn(Box::pin(self.clone().heed_account_changes()));
        spawn(Box::pin(self.clone().watch_over()));
        spawn(Box::pin(self.clone().retain_in_rounds()));
        spawn(Box::pin(self.clone().watch_settings()));
        spawn(Box::pin(Worker::new(self).run()));
        self.connect_mcp_servers();
        self.discover_external_agents();
    }

    /// Lets other processes cancel what runs here; [`Kernel::start_background_agents`] does that too.
    pub fn heed_cancel_requests(&self) {
        let (kernel, stop) = (self.clone(), self.inner.life.draining().clone());
        self.inner
            .life
            .tracker()
            .spawn(async move { stop.run_until_cancelled(kernel.follow_cancel_requests()).await });
    }

    /// Settles the tasks of processes that died. Says how many there were.
    pub async fn recover(&self) -> Result<usize, KernelError> {
        let Some(node) = &self.inner.node else { return Ok(0) };
        let living = || node.living().map_err(|error| StoreError::Unavailable { why: error.to_string() });
        let delivering = self.inner.stores.pushes.holders().await?;
        let mut orphans = self.inner.stores.tasks.orphans(&living()?).await?;
        // Looked at again: a process may have begun, with a task, after the living were counted.
        let still_living = living()?;
        orphans.retain(|orphan| !still_living.contains(&orphan.node));
        self.inner.stores.audit.seal_abandoned(&still_living, self.inner.clock.now()).await?;
        let dead: Vec<NodeId> = delivering.into_iter().filter(|holder| !still_living.contains(holder)).collect();
        if !dead.is_empty() {
            self.inner.stores.pushes.abandon(&dead, self.inner.clock.now()).await?;
        }
        self.tell_of_old_cancels(&still_living).await?;
        let found = orphans.len();
        for orphan in orphans {
            let id = orphan.task.id;
            match self.adopt(orphan).await {
                // Another process was faster.
                Ok(()) | Err(KernelError::Store(StoreError::Conflict | StoreError::NotAllowed { .. })) => {}
                Err(error) => tracing::error!(%error, task = %id, "a task of a dead process was not settled"),
            }
        }
        if let Err(error) = node.forget_dead() {
            tracing::debug!(%error, "a lock of a dead process was left");
        }
        Ok(found)
    }

    async fn adopt(&self, orphan: TaskRecord) -> Result<(), KernelError> {
        let tasks = &self.inner.stores.tasks;
        let stamp = tasks.claim(orphan.task.id, orphan.version, self.inner.tasks.node_id).await?;
        let agent = self.inner.settings().agents().get(&orphan.task.agent).cloned();
        let opened = self.turn_of(&orphan).await?;
        let (Some(agent), Some(opened)) = (agent, opened) else { return self.interrupted(&orphan, stamp).await };
        let OpenTurn { message, number, told } = &opened;
        let is_remote = agent.answerer.is_remote();
        let remote = if is_remote { self.inner.stores.remotes.get(orphan.task.id).await? } else { None };
        let turn = Turn {
            task: orphan.task.id,
            history: &orphan.task.history,
            message,
            number: *number,
            told: *told,
            waiting: None,
            remote: remote.as_ref(),
            remote_context: None,
        };
        let recovery = agent.answerer.recovery(&turn, &agent.manifest, self.inner.pipeline.catalog());
        // Following a task elsewhere repeats nothing, however often it is done.
        if recovery == Recovery::Fail || (orphan.attempt >= TASK_ATTEMPTS && !is_remote) {
            return self.interrupted(&orphan, stamp).await;
        }
        tracing::info!(task = %orphan.task.id, attempt = orphan.attempt + 1, "a task of a dead process is resumed");
        let TaskRecord { task, owner, labels, trace, .. } = orphan;
        let id = task.id;
        let hops = remote.as_ref().map_or(0, |remote| remote.hops);
        let principal = self.narrowed_as_begun(self.resumed_as(&owner, &labels), id).await?;
        let caller = Caller { principal: Arc::new(principal), door: Door::Rest, trace, hops, room: None };
        let log = TaskLog::resume(Arc::clone(&self.inner), owner, task, labels, stamp).with_remote(remote);
        let log = Arc::new(log);
        let OpenTurn { message, told, .. } = opened;
        let cancel = CancellationToken::new();
        drop(
            self.begin_run(id, Plan { caller, agent, log, message, told, granted: None, cancel })
                .detach(),
        );
        Ok(())
    }

    /// A principal with the profiles that narrowed whoever began a task. A profile that is gone leaves nothing.
    async fn narrowed_as_begun(&self, principal: Principal, id: TaskId) -> Result<Principal, KernelError> {
        let scope = self.inner.stores.tasks.scope(id).await?.unwrap_or_default();
        let settings = self.inner.settings();
        let names = scope.split(' ').filter_map(|name| name.parse().ok());
        Ok(names.fold(principal, |principal, name| narrowed_to(principal, &name, &settings)))
    }

    /// The turn an orphan was in: its last message, and how many events came after the work on it began.
    async fn turn_of(&self, orphan: &TaskRecord) -> Result<Option<OpenTurn>, KernelError> {
        let events = self.inner.stores.tasks.events(&orphan.owner, orphan.task.id, 0, usize::MAX).await?;
        let is_user = |message: &Message| message.role == Role::User;
        let last = events
            .iter()
            .rposition(|event| matches!(&event.body, EventBody::Message(said) if is_user(said)));
        let Some(last) = last else { return Ok(None) };
        let EventBody::Message(message) = &events[last].body else { return Ok(None) };
        // The first event after the message says that the work began. Reports of a call are no steps.
        let steps = events.iter().skip(last + 2).filter(|event| !is_report(&event.body));
        let told = steps.count();
        let number = orphan.task.history.iter().filter(|said| is_user(said)).count();
        Ok(Some(OpenTurn { message: message.clone(), number, told }))
    }

    async fn interrupted(&self, orphan: &TaskRecord, stamp: Stamp) -> Result<(), KernelError> {
        let why = "interrupted: the process that worked on it ended";
        let log = TaskLog::resume(
            Arc::clone(&self.inner),
            orphan.owner.clone(),
            orphan.task.clone(),
            orphan.labels.clone(),
            stamp,
        );
        // Whoever was faster has settled it.
        let _ = log.end(Ending::saying(TaskState::Failed, why), &Labels::none()).await;
        Ok(())
    }

    /// Who a resumed run acts for: a user with what they are granted now, and nobody with more than they are sure to
    /// have had.
    fn resumed_as(&self, owner: &Owner, labels: &Labels) -> Principal {
        if *owner != Owner::admin() {
            let grants = self.inner.access.credentials().accounts().grants(owner).unwrap_or_default();
            return Principal::user(owner.clone(), grants);
        }
        if labels.contains(Label::UntrustedAgent) {
            Principal::local()
        } else {
            Principal::admin(AdminProof::InProcess)
        }
    }

    async fn follow_cancel_requests(self) {
        let mut elsewhere = self.inner.stores.tasks.elsewhere();
        while elsewhere.changed().await.is_ok() {
            let wanted = self
                .inner
                .stores
                .tasks
                .cancel_requests(self.inner.tasks.node_id)
                .await
                .unwrap_or_default();
            let live = |id: TaskId| self.inner.tasks.live.get(id);
            wanted.into_iter().filter_map(live).for_each(|run| run.cancel.cancel());
        }
    }

    async fn watch_over(self) {
        let mut due = tokio::time::interval(WATCH_OVER);
        loop {
            due.tick().await;
            if let Err(error) = self.recover().await {
                tracing::warn!(%error, "the tasks of dead processes could not be looked at");
            }
            self.inner.stores.audit.write_counts(self.inner.clock.now());
            let health = &self.inner.stores.health;
            if health.failing().is_some() && health.probe().await.is_ok() && health.failing().is_none() {
                tracing::info!("the store can be written again");
            }
            if self.inner.stores.health.unreadable().is_some() {
                self.check_database();
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
            };
            match self.inner.stores.tasks.retain(rule, self.inner.clock.now()).await {
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
            if let Err(error) = self.inner.stores.users.purge(self.inner.clock.now()).await {
                tracing::warn!(%error, "logins that are over were not forgotten");
            }
            let rule = AuditRetention::from(&config.audit);
            let rotated = self.inner.stores.audit.rotate(rule, self.inner.clock.now()).await;
            if let Err(error) = rotated {
                tracing::warn!(%error, "old audit segments were not cut");
            }
        }
    }

    /// Forgets what is known of workspace files that somebody removed by hand. Says how many there were.
    pub async fn forget_removed_files(&self) -> Result<usize, StoreError> {
        self.inner.files.sweep().await
    }

    /// Deletes kept results that have expired. Says how many there were.
    pub async fn delete_expired_results(&self) -> Result<usize, StoreError> {
        self.inner.stores.results.delete_expired(self.inner.clock.now()).await
    }

    /// Lets the MCP servers go, ends this process's part of the audit log in order, and waits until everything that was queued is written.
    pub async fn close(&self) {
        self.inner.upstreams.close().await;
        self.inner.external.close().await;
        self.note_key_uses().await;
        let sealed = self.inner.stores.audit.seal(self.inner.clock.now()).await;
        if let Err(error) = sealed.and(self.inner.stores.health.probe().await) {
            tracing::warn!(%error, "the store was not closed in order");
        }
    }
}

/// The turn that a process began and did not live to end.
struct OpenTurn {
    message: Message,
    number: usize,
    told: usize,
}

/// Whether an event only says how far a tool call is.
fn is_report(event: &EventBody) -> bool {
    match event {
        EventBody::Status(status) => {
            let message = status.message.as_ref();
            message.is_some_and(|message| message.parts.iter().any(Part::is_progress))
        }
        EventBody::Message(_) | EventBody::Artifact(_) => false,
    }
}

type BackgroundWork = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
