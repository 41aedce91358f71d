//! Push notifications: what happens to a task is posted to where its owner asked for it.
//!
//! `check.rs` is what a configuration must keep; `worker.rs` finds what is due and hands it out, at the pace of
//! `pace.rs`; `delivery.rs` tells one configuration what it has missed, in order; `payload.rs` puts it into the
//! receiver's dialect; `post.rs` sends it and judges the answer.
//!
//! An event is delivered at least once: one whose answer was lost is sent again, with the same `X-OpenFang-Event`.

use openfang_a2a::answer::TaskPushConfig;
use openfang_a2a::operation::{PushAuthentication, PushNotificationConfig};
use openfang_store::{PushConfig, PushRow, StoreError, TaskRecord};
use openfang_types::ids::TaskId;
use openfang_types::limits::PUSH_PER_TASK;
use openfang_types::principal::Credential;
use openfang_types::task::Origin;

use crate::tasks::Tasks;
use crate::{Caller, KernelError};

mod check;
mod delivery;
mod hook;
mod metrics;
mod pace;
mod payload;
mod post;
mod worker;

pub(crate) use check::CheckedPush;
pub(crate) use hook::{HookOutcome, HookPace, HookPost};
pub(crate) use metrics::PushMetrics;
use worker::Worker;

impl Tasks {
    /// Delivers what is due, until it is dropped.
    pub(crate) async fn deliver_pushes(self, metrics: PushMetrics) {
        Worker::new(self, metrics).run().await;
    }

    /// Posts what happens to one's own task from now on. A configuration of the same id is replaced, and goes on where
    /// it was.
    pub(crate) async fn set_push(
        &self,
        caller: &Caller,
        id: TaskId,
        push: PushNotificationConfig,
        origin: Origin,
    ) -> Result<TaskPushConfig, KernelError> {
        let record = self.head(caller, id).await?;
        let row = self.add_push(&record, self.checked_push(caller, push, origin)?).await?;
        Ok(shown(caller, &record, row.config))
    }

    /// The push configurations of one's own task, those made first first.
    pub(crate) async fn pushes(&self, caller: &Caller, id: TaskId) -> Result<Vec<TaskPushConfig>, KernelError> {
        let (record, rows) = self.push_rows(caller, id).await?;
        Ok(rows.into_iter().map(|row| shown(caller, &record, row.config)).collect())
    }

    /// What became of the last delivery of each push configuration, by its id; none before the first.
    pub(crate) async fn push_outcomes(
        &self,
        caller: &Caller,
        id: TaskId,
    ) -> Result<Vec<(String, Option<String>)>, KernelError> {
        let (_, rows) = self.push_rows(caller, id).await?;
        Ok(rows.into_iter().map(|row| (row.config.id, row.reached.outcome)).collect())
    }

    /// Takes a push configuration away; one that is not there is no error.
    pub(crate) async fn delete_push(&self, caller: &Caller, id: TaskId, config: &str) -> Result<(), KernelError> {
        self.is_known_to(caller, id).await?;
        let owner = caller.principal.owner();
        unknown(id, self.inner.pushes.delete(owner, id, config).await)
    }

    /// A configuration that may be kept. The url is judged as a stranger's; what its name resolves to, when it is
    /// dialled.
    pub(crate) fn checked_push(
        &self,
        caller: &Caller,
        push: PushNotificationConfig,
        origin: Origin,
    ) -> Result<CheckedPush, KernelError> {
        let checked = check::checked(push, origin, self.inner.settings().http().guard())?;
        Ok(checked.made_by(maker(caller)))
    }

    /// Adds a checked configuration to a task that is there.
    pub(crate) async fn add_push(&self, record: &TaskRecord, push: CheckedPush) -> Result<PushRow, KernelError> {
        let (owner, task) = (record.owner.clone(), record.task.id);
        let config = push.named(|| self.inner.ids.random());
        let at = self.inner.clock.now();
        let new = openfang_store::NewPush { owner, task, config, limit: PUSH_PER_TASK, at };
        unknown(task, self.inner.pushes.set(new).await)
    }

    async fn push_rows(&self, caller: &Caller, id: TaskId) -> Result<(TaskRecord, Vec<PushRow>), KernelError> {
        let record = self.head(caller, id).await?;
        let rows = unknown(id, self.inner.pushes.list(&record.owner, id).await)?;
        Ok((record, rows))
    }
}

/// The task may have been evicted since somebody looked.
fn unknown<T>(id: TaskId, outcome: Result<T, StoreError>) -> Result<T, KernelError> {
    match outcome {
        Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
        outcome => Ok(outcome?),
    }
}

/// Which credential of a user's somebody comes with.
fn maker(caller: &Caller) -> Option<String> {
    caller.principal.credential().map(|credential| match credential {
        Credential::Key(id) => format!("key {id}"),
        Credential::Login(id) => format!("login {id}"),
    })
}

/// A configuration as its owner set it. Credentials are written and never read; the token is shown to the credential that
/// set it, and to no other key of the same user.
fn shown(caller: &Caller, record: &TaskRecord, config: PushConfig) -> TaskPushConfig {
    let is_its_maker = maker(caller) == config.maker;
    let PushConfig { id, url, token, authorization, .. } = config;
    let token = token.filter(|_| is_its_maker);
    let authentication = authorization.map(|held| PushAuthentication { scheme: held.scheme, credentials: None });
    TaskPushConfig {
        id: id.clone(),
        task: name_of(record),
        config: PushNotificationConfig { id: Some(id), url, token, authentication },
    }
}

/// What its maker calls a task.
fn name_of(record: &TaskRecord) -> String {
    record
        .peer_name
        .as_ref()
        .map_or_else(|| record.task.id.to_string(), |name| name.as_str().to_owned())
}
