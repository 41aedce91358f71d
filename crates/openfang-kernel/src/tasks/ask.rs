//! Asking an agent and waiting for what comes of it, for as long as whoever asks has patience. Then the work goes on without
//! anybody waiting, and whoever asked has its task.

use openfang_runtime::context::Patience;
use openfang_store::TaskRecord;
use openfang_types::ids::TaskId;
use openfang_types::task::{Message, TaskState};
use tokio_util::sync::CancellationToken;

use super::handed_over::{CallKey, HandedCall, Parting};
use super::intake::Work;
use super::run::Settled;
use super::{Incoming, Intake, Tasks};
use crate::{Caller, KernelError};

/// What an agent made of a message.
pub(crate) enum AgentAnswer {
    /// An answer that needed no task.
    Message(Message),
    /// The task, settled; or as it stands, if the patience was over first.
    Task(Settled),
}

/// A task that somebody waits for.
struct Awaited {
    id: TaskId,
    /// The work, if it began with this message.
    work: Option<Work>,
    /// Cancels the work, whoever began it.
    cancel: CancellationToken,
}

impl Tasks {
    /// Sends a message and waits. If whoever asked cancels or is dropped, the work stops too. `report` tells of the task
    /// meanwhile.
    pub(crate) async fn ask(
        &self,
        incoming: Incoming,
        patience: Option<&Patience>,
        report: impl AsyncFnOnce(TaskId),
    ) -> Result<AgentAnswer, KernelError> {
        let (caller, canceled) = (incoming.caller.clone(), incoming.cancel.clone());
        let key = patience.filter(|patience| patience.may_join).and_then(|_| CallKey::of(&incoming));
        let joined = match key {
            // An answer to a question is not given twice.
            Some(key) if incoming.message.task_id.is_none() => self.joined(&caller, key).await,
            Some(_) | None => None,
        };
        let Awaited { id, work, cancel } = match joined {
            Some(joined) => joined,
            None => {
                // Not a child: what goes on without its caller is not canceled with the caller's connection.
                let cancel = CancellationToken::new();
                match self.take(Incoming { cancel: cancel.clone(), ..incoming }).await? {
                    Intake::Answered(message) => return Ok(AgentAnswer::Message(message)),
                    Intake::Known(id) => Awaited { id, work: None, cancel },
                    Intake::Begun(work) => Awaited { id: work.id(), work: Some(work), cancel },
                }
            }
        };
        let stop_with_us = cancel.clone().drop_guard();
        let end = async {
            let end = async {
                match work {
                    Some(work) => self.end_of_apart(&caller, work).await,
                    None => self.settled(&caller, id).await,
                }
            };
            tokio::join!(end, report(id)).0
        };
        let parting = tokio::select! {
            biased;
            () = canceled.cancelled() => {
                drop(stop_with_us);
                return self.settled(&caller, id).await.map(AgentAnswer::Task);
            }
            settled = end => {
                stop_with_us.disarm();
                self.inner.handed_over.fetched(id);
                return settled.map(AgentAnswer::Task);
            }
            parting = end_of_patience(patience) => parting,
        };
        let call = HandedCall { owner: caller.principal.owner().clone(), task: id, cancel, parting };
        let goes_on = match key {
            Some(key) => self.inner.handed_over.keep(key, call),
            None => parting == Parting::Told,
        };
        if goes_on {
            stop_with_us.disarm();
        }
        self.as_it_stands(&caller, id).await.map(AgentAnswer::Task)
    }

    /// Waits until a task is settled, for as long as somebody has patience.
    pub(crate) async fn settled_within(
        &self,
        caller: &Caller,
        id: TaskId,
        patience: &Patience,
    ) -> Result<Settled, KernelError> {
        tokio::select! {
            biased;
            settled = self.settled(caller, id) => {
                self.inner.handed_over.fetched(id);
                settled
            }
            _ = end_of_patience(Some(patience)) => self.as_it_stands(caller, id).await,
        }
    }

    /// The task as it is now. Its history is read only if it has just settled.
    pub(super) async fn as_it_stands(&self, caller: &Caller, id: TaskId) -> Result<Settled, KernelError> {
        let TaskRecord { task, labels, .. } = self.head(caller, id).await?;
        match task.status.state {
            TaskState::Submitted | TaskState::Working => Ok(Settled { task, labels }),
            // It was settled this very moment.
            _ => self.settled(caller, id).await,
        }
    }

    /// The task of the same call, which somebody began and nobody has fetched. One that asks for something is not joined,
    /// because the question was not asked of this caller; nor is one that somebody canceled, who wants another one.
    async fn joined(&self, caller: &Caller, key: CallKey) -> Option<Awaited> {
        let HandedCall { task: id, cancel, .. } = self.inner.handed_over.find(key)?;
        let state = self.head(caller, id).await.ok()?.task.status.state;
        if state.is_interrupted() || state == TaskState::Canceled {
            self.inner.handed_over.fetched(id);
            return None;
        }
        Some(Awaited { id, work: None, cancel })
    }
}

/// Returns when somebody has waited long enough, and how they part.
pub(super) async fn end_of_patience(patience: Option<&Patience>) -> Parting {
    let Some(Patience { hold, left, .. }) = patience else { return std::future::pending().await };
    tokio::select! {
        () = tokio::time::sleep(*hold) => Parting::Told,
        () = left.cancelled() => Parting::Left,
    }
}
