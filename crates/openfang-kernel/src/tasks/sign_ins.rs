//! Tasks whose agent, on another server, waits until somebody signs in there. Nobody answers to such a question here: the
//! agent goes on by itself, and then the task goes on here.
//!
//! ```text
//! auth-required ──┬── the agent goes on ──> working again, in a run of its own
//!                 ├── a message, a cancel ─> whoever sent it goes on with the task
//!                 └── a day has passed ────> stays as it is until somebody sends a message
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_runtime::answerer::SignIn;
use openfang_runtime::context::Patience;
use openfang_store::{RemotePhase, RemoteRecord, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::{EXTERNAL_QUESTIONS, EXTERNAL_SIGN_IN_CALL, EXTERNAL_SIGN_IN_TOTAL, EXTERNAL_SIGN_INS};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Role, TaskState};
use tokio_util::sync::CancellationToken;

use crate::settings::agents::Agent;
use crate::tasks::Tasks;
use crate::tasks::ask::end_of_patience;
use crate::tasks::log::TaskLog;
use crate::tasks::push_hints::PushExpectation;
use crate::tasks::run::{Plan, Settled};
use crate::{Caller, KernelError};

/// The tasks that this process follows while somebody signs in elsewhere, with their owners.
#[derive(Default)]
pub(crate) struct SignIns {
    followed: Mutex<HashMap<TaskId, Owner>>,
}

impl SignIns {
    /// Whether nobody in this process follows the task yet, and its owner may have one more. From now on somebody does.
    fn begin(&self, task: TaskId, owner: &Owner) -> bool {
        let mut followed = self.lock();
        if followed.contains_key(&task) || followed.values().filter(|held| *held == owner).count() >= EXTERNAL_SIGN_INS
        {
            return false;
        }
        followed.insert(task, owner.clone());
        true
    }

    fn has(&self, task: TaskId) -> bool {
        self.lock().contains_key(&task)
    }

    fn end(&self, task: TaskId) {
        self.lock().remove(&task);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Owner>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that waits for a sign-in elsewhere.
pub(crate) struct WaitingSignIn {
    pub(crate) caller: Caller,
    pub(crate) agent: Arc<Agent>,
    pub(crate) task: TaskId,
    pub(crate) remote: RemoteRecord,
    /// Where the agent says that something changed.
    pub(crate) push: Option<PushExpectation>,
}

impl Tasks {
    /// Follows a task until its agent goes on, in the background.
    pub(crate) fn follow_sign_in(&self, waiting: WaitingSignIn) {
        let (id, owner) = (waiting.task, waiting.caller.principal.owner().clone());
        if !self.inner.sign_ins.begin(id, &owner) {
            tracing::debug!(task = %id, "a sign-in elsewhere is not followed: too many of its owner are");
            return;
        }
        let (tasks, stop) = (self.clone(), self.inner.life.draining().clone());
        self.inner.life.tracker().spawn(async move {
            let followed = stop.run_until_cancelled(tasks.signed_in(&owner, waiting)).await;
            tasks.inner.sign_ins.end(id);
            // Ended first, so that the run which goes on can wait for a second sign-in.
            if let Some(Some(reopened)) = followed
                && let Err(error) = tasks.reopen(reopened).await
            {
                tracing::warn!(%error, task = %id, "a task whose agent goes on was not taken up");
            }
        });
    }

    /// Waits until the agent goes on. None if somebody else does something with the task first.
    async fn signed_in(&self, owner: &Owner, waiting: WaitingSignIn) -> Option<WaitingSignIn> {
        let hint = waiting.push.as_ref().map(|push| push.hint().clone());
        let over = waiting.agent.answerer.signed_in(waiting.remote.clone(), hint)?;
        tokio::select! {
            biased;
            () = self.no_longer_waits(owner, waiting.task) => None,
            over = over => match over {
                SignIn::Over => Some(waiting),
                SignIn::GivenUp => None,
            },
        }
    }

    /// Returns when a task waits for a sign-in no more, as far as this server knows.
    async fn no_longer_waits(&self, owner: &Owner, id: TaskId) {
        let Ok(mut latest) = self.inner.store.watch(owner, id).await else { return };
        loop {
            latest.mark_unchanged();
            match self.inner.store.head(owner, id).await {
                Ok(record) if record.task.status.state == TaskState::AuthRequired => {}
                // A store that cannot be read now says nothing about the task.
                Err(StoreError::Unavailable { .. }) => {}
                Ok(_) | Err(_) => return,
            }
            if latest.changed().await.is_err() {
                return;
            }
        }
    }

    /// Goes on with a task whose agent does.
    async fn reopen(&self, waiting: WaitingSignIn) -> Result<(), KernelError> {
        let WaitingSignIn { caller, agent, task: id, remote, push: _ } = waiting;
        let record = self.record(&caller, id).await?;
        let is_waiting = record.task.status.state == TaskState::AuthRequired;
        // An agent that asks for a sign-in again and again is not followed for ever.
        let asked = record.task.transitions.iter().filter(|one| one.state == TaskState::AuthRequired).count();
        let is_waiting = is_waiting && asked <= EXTERNAL_QUESTIONS;
        let said = record.task.history.iter().rev().find(|said| said.role == Role::User).cloned();
        let (true, Some(message)) = (is_waiting, said) else { return Ok(()) };
        let remote = RemoteRecord { phase: RemotePhase::Known, seen_at: self.inner.clock.now(), ..remote };
        let status = self.inner.status(&record.task, TaskState::Working, Vec::new());
        let events = vec![EventBody::Status(status)];
        let written = self
            .inner
            .append_with(&record, events.clone(), Labels::none(), Some(remote.clone()))
            .await;
        let stamp = match written {
            // Somebody answered or canceled this very moment.
            Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => return Ok(()),
            written => written?,
        };
        tracing::info!(task = %id, agent = %agent.manifest.name, "an A2A agent goes on after a sign-in");
        let TaskRecord { mut task, owner, labels, .. } = record;
        events.iter().for_each(|event| task.apply(event));
        let log = TaskLog::resume(Arc::clone(&self.inner), owner, task, labels, stamp).with_remote(Some(remote));
        let (log, cancel) = (Arc::new(log), CancellationToken::new());
        let plan = Plan { caller, agent, log, message, told: 0, is_resumed: true, granted: None, cancel };
        drop(self.begin_run(id, plan).detach());
        Ok(())
    }

    /// Waits until a task waits for a sign-in no more, and then until it is settled, for as long as somebody has patience.
    pub(crate) async fn signed_in_within(
        &self,
        caller: &Caller,
        id: TaskId,
        patience: Option<&Patience>,
    ) -> Result<Settled, KernelError> {
        let limit = async {
            match patience {
                Some(patience) => drop(end_of_patience(Some(patience)).await),
                None => tokio::time::sleep(EXTERNAL_SIGN_IN_CALL).await,
            }
        };
        tokio::select! {
            biased;
            settled = self.settled_after_sign_in(caller, id) => {
                self.inner.handed_over.fetched(id);
                settled
            }
            () = limit => self.as_it_stands(caller, id).await,
        }
    }

    /// Waits until a task waits for a sign-in no more, and then until it is settled.
    pub(crate) async fn settled_after_sign_in(&self, caller: &Caller, id: TaskId) -> Result<Settled, KernelError> {
        self.head(caller, id).await?;
        self.no_longer_waits(caller.principal.owner(), id).await;
        self.settled(caller, id).await
    }

    /// Follows the tasks that processes which died have left waiting for a sign-in elsewhere.
    pub(super) async fn take_over_sign_ins(&self, living: &[NodeId]) -> Result<(), KernelError> {
        for (owner, id, remote) in self.inner.remotes.abandoned_sign_ins(living).await? {
            let age = self.inner.clock.now().duration_since(remote.seen_at);
            let is_old = age.unsigned_abs() > EXTERNAL_SIGN_IN_TOTAL;
            let agent = self.inner.remote_agent(&remote.agent).filter(|_| !is_old && !self.inner.sign_ins.has(id));
            let Some(agent) = agent else { continue };
            let record = self.inner.store.head(&owner, id).await?;
            let principal = self.narrowed_as_begun(self.resumed_as(&owner, &record.labels), id).await?;
            let door = self.door_as_begun(id, Door::A2a).await?;
            let caller =
                Caller { principal: Arc::new(principal), door, trace: record.trace, hops: remote.hops, room: None };
            let push = self.inner.expect_pushes(&agent, id);
            self.follow_sign_in(WaitingSignIn { caller, agent, task: id, remote, push });
        }
        Ok(())
    }
}
