//! Tasks of processes that died, and requests to cancel from other processes.
//!
//! After a crash, tasks that wait for their owner stay as they are. A turn whose open step may be repeated is resumed;
//! everything else that was running fails, because an effect must not happen twice. None stays working.

use std::sync::Arc;

use openfang_runtime::answerer::{Ending, Recovery, Turn};
use openfang_store::{Stamp, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::TASK_ATTEMPTS;
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Part, Role, TaskState};
use tokio_util::sync::CancellationToken;

use crate::tasks::Tasks;
use crate::tasks::log::TaskLog;
use crate::tasks::run::Plan;
use crate::{Caller, KernelError};

impl Tasks {
    /// Lets other processes cancel what runs here.
    pub(crate) fn heed_cancel_requests(&self) {
        let (tasks, stop) = (self.clone(), self.inner.life.draining().clone());
        self.inner
            .life
            .tracker()
            .spawn(async move { stop.run_until_cancelled(tasks.follow_cancel_requests()).await });
    }

    /// Settles the tasks of processes that died. Says how many there were.
    pub(crate) async fn recover(&self) -> Result<usize, KernelError> {
        let Some(node) = &self.inner.node else { return Ok(0) };
        let living = || node.living().map_err(|error| StoreError::Unavailable { why: error.to_string() });
        let delivering = self.inner.pushes.holders().await?;
        let mut orphans = self.inner.store.orphans(&living()?).await?;
        // Looked at again: a process may have begun, with a task, after the living were counted.
        let still_living = living()?;
        orphans.retain(|orphan| !still_living.contains(&orphan.node));
        self.inner.audit.seal_abandoned(&still_living, self.inner.clock.now()).await?;
        let dead: Vec<NodeId> = delivering.into_iter().filter(|holder| !still_living.contains(holder)).collect();
        if !dead.is_empty() {
            self.inner.pushes.abandon(&dead, self.inner.clock.now()).await?;
        }
        self.tell_of_old_cancels(&still_living).await?;
        self.take_over_sign_ins(&still_living).await?;
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
        let tasks = &self.inner.store;
        let stamp = tasks.claim(orphan.task.id, orphan.version, self.inner.node_id).await?;
        let agent = self.inner.settings().agents().get(&orphan.task.agent).cloned();
        let opened = self.turn_of(&orphan).await?;
        let (Some(agent), Some(opened)) = (agent, opened) else { return self.interrupted(&orphan, stamp).await };
        let OpenTurn { message, number, told } = &opened;
        let is_remote = agent.answerer.is_remote();
        let remote = if is_remote { self.inner.remotes.get(orphan.task.id).await? } else { None };
        let turn = Turn {
            task: orphan.task.id,
            history: &orphan.task.history,
            message,
            number: *number,
            told: *told,
            is_resumed: true,
            waiting: None,
            remote: remote.as_ref(),
            remote_context: None,
            push: None,
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
        let door = self.door_as_begun(id, Door::A2a).await?;
        let caller = Caller { principal: Arc::new(principal), door, trace, hops, room: None };
        let log = TaskLog::resume(Arc::clone(&self.inner), owner, task, labels, stamp).with_remote(remote);
        let log = Arc::new(log);
        let OpenTurn { message, told, .. } = opened;
        let cancel = CancellationToken::new();
        drop(
            self.begin_run(id, Plan { caller, agent, log, message, told, is_resumed: true, granted: None, cancel })
                .detach(),
        );
        Ok(())
    }

    /// A principal with the profiles that narrowed whoever began a task, and with the label of their key. A profile that is gone
    /// leaves nothing.
    pub(super) async fn narrowed_as_begun(&self, principal: Principal, id: TaskId) -> Result<Principal, KernelError> {
        let scope = self.inner.store.scope(id).await?.unwrap_or_default();
        Ok(if principal.begun_as() == scope { principal } else { self.narrowed_to(principal, &scope) })
    }

    /// How the newest message of a task came in, or this where it is not known: whoever was no person then is none later.
    /// Nobody waits at the terminal any more.
    pub(super) async fn door_as_begun(&self, id: TaskId, unknown: Door) -> Result<Door, KernelError> {
        Ok(match self.inner.store.door(id).await?.unwrap_or(unknown) {
            Door::Cli => Door::Rest,
            door @ (Door::Rest | Door::Mcp | Door::A2a | Door::Agent) => door,
        })
    }

    /// The turn an orphan was in: its last message, and how many events came after the work on it began.
    async fn turn_of(&self, orphan: &TaskRecord) -> Result<Option<OpenTurn>, KernelError> {
        let events = self.inner.store.events(&orphan.owner, orphan.task.id, 0, usize::MAX).await?;
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
    pub(crate) fn resumed_as(&self, owner: &Owner, labels: &Labels) -> Principal {
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
        let mut elsewhere = self.inner.store.elsewhere();
        while elsewhere.changed().await.is_ok() {
            let wanted = self.inner.store.cancel_requests(self.inner.node_id).await.unwrap_or_default();
            let live = |id: TaskId| self.inner.live.get(id);
            wanted.into_iter().filter_map(live).for_each(|run| run.cancel.cancel());
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
