//! Messages of A2A peers: which task they continue or make, and when they are answered.

use std::time::Duration;

use openfang_a2a::answer::NamedTask;
use openfang_a2a::error::A2aError;
use openfang_a2a::host::SendOutcome;
use openfang_a2a::operation::{ReplyMode, SendMessage, TaskReference};
use openfang_store::TaskRecord;
use openfang_types::event::Until;
use openfang_types::ids::{AgentName, MessageId, TaskId, TaskName};
use openfang_types::task::{Message, Origin, Task, TaskState};
use tokio::time::timeout;

use super::A2aHost;
use super::refusals::refused;
use crate::tasks::log::Visibility;
use crate::tasks::streams::{Begin, Follow, StreamRoom};
use crate::tasks::{Incoming, Intake};
use crate::{Caller, KernelError, chain};

/// What a task keeps beside what happens to it.
struct TaskIdentity {
    origin: Origin,
    peer_name: Option<TaskName>,
}

impl TaskIdentity {
    fn held(self, task: Task) -> Box<NamedTask> {
        Box::new(NamedTask { task, origin: self.origin, peer_name: self.peer_name })
    }
}

impl A2aHost {
    pub(super) async fn take_in(
        &self,
        caller: &Caller,
        to: Option<AgentName>,
        sending: SendMessage,
        origin: Origin,
    ) -> Result<SendOutcome, A2aError> {
        let SendMessage { message, task, answer, push, .. } = sending;
        let caller = &chain::caller_of(self.doors.inner.pipeline.outward_calls(), caller, &message.metadata);
        let push = push
            .map(|push| self.room().checked_push(caller, push, origin))
            .transpose()
            .map_err(refused)?;
        let (mut known, peer_name) = self.named_in(caller, task).await?;
        if let Some(record) = known.as_mut().filter(|_| origin == Origin::V03) {
            self.wait_for_the_turn(caller, record, &message).await?;
        }
        let agent = match (to, &known) {
            (Some(agent), _) => agent,
            (None, Some(record)) => record.task.agent.clone(),
            (None, None) => self.doors.default_agent(Some(&caller.principal)).ok_or_else(no_agent)?,
        };
        let kept = match &known {
            Some(record) => TaskIdentity { origin: record.origin, peer_name: record.peer_name.clone() },
            None => TaskIdentity { origin, peer_name },
        };
        let makes = known.is_none() && kept.peer_name.is_some();
        let makes = makes.then(|| message.message_id.clone());
        let context_id = match &known {
            // Clients of 0.3 make up a context for a task that they continue. From 1.0 on that is an error.
            Some(record) if origin == Origin::V03 => Some(record.task.context_id.clone()),
            _ => message.context_id.clone(),
        };
        let message = Message { task_id: known.map(|record| record.task.id), context_id, ..message };
        let visibility = if answer == ReplyMode::Settled { Visibility::Unseen } else { Visibility::Seen };
        let incoming = Incoming {
            origin,
            peer_name: kept.peer_name.clone(),
            push,
            ..self.room().incoming(caller, &agent, message, visibility)
        };
        // Asked for first: a message whose stream is refused begins nothing.
        let room = (answer == ReplyMode::Streaming)
            .then(|| self.room().room_for_a_stream(caller))
            .transpose()
            .map_err(refused)?;
        let taken = self.room().take(incoming).await.map_err(refused)?;
        let sent = match room {
            // Boxed, because most messages are answered at their end: the future would be as large for all.
            Some(room) => Box::pin(self.streamed(caller, taken, room, kept)).await?,
            None => self.sent(caller, taken, answer, kept).await?,
        };
        match makes {
            Some(message) => made_by(&message, sent),
            None => Ok(sent),
        }
    }

    /// Clients of 0.3 go on with a task as soon as they were told that it is submitted: the message waits for the end of the
    /// turn before it, for as long as a turn may take. A task that is still at work then is busy. Whoever waits has one of the
    /// streams that its owner may have; it stops waiting when the task is canceled, or its client leaves.
    async fn wait_for_the_turn(
        &self,
        caller: &Caller,
        record: &mut TaskRecord,
        message: &Message,
    ) -> Result<(), A2aError> {
        let Task { id, ref status, ref history, .. } = record.task;
        let is_settled = status.state.is_terminal() || status.state.is_interrupted();
        if is_settled || history.iter().any(|said| said.message_id == message.message_id) {
            return Ok(());
        }
        let _room = self.room().room_for_a_stream(caller).map_err(refused)?;
        let patience = Duration::from_secs(self.doors.inner.settings().config().limits.run_timeout_secs);
        // Boxed, because most messages wait for nothing: the future would be as large for all.
        if let Ok(settled) = timeout(patience, Box::pin(self.room().settled(caller, id))).await {
            record.task = settled.map_err(refused)?.task;
        }
        Ok(())
    }

    /// The task that a message continues, or none and the name of the one it makes.
    async fn named_in(
        &self,
        caller: &Caller,
        task: Option<TaskReference>,
    ) -> Result<(Option<TaskRecord>, Option<TaskName>), A2aError> {
        match task {
            None => Ok((None, None)),
            Some(TaskReference::Existing(name)) => Ok((Some(self.named(caller, &name).await?), None)),
            Some(TaskReference::ExistingOrNew(name)) => match self.found(caller, &name).await {
                Ok(record) => Ok((Some(record), None)),
                Err(A2aError::TaskNotFound) => Ok((None, Some(name))),
                Err(error) => Err(error),
            },
        }
    }

    async fn sent(
        &self,
        caller: &Caller,
        taken: Intake,
        answer: ReplyMode,
        kept: TaskIdentity,
    ) -> Result<SendOutcome, A2aError> {
        match taken {
            Intake::Answered(message) => Ok(SendOutcome::Reply(message)),
            Intake::Begun(work) if answer == ReplyMode::Settled => {
                let settled = self.room().end_of(caller, work).await.map_err(refused)?;
                Ok(SendOutcome::Task(kept.held(settled.task)))
            }
            Intake::Begun(work) => {
                let id = work.id();
                match work.detach() {
                    Some((task, _)) => Ok(SendOutcome::Task(kept.held(task))),
                    None => self.as_it_stands(caller, id).await,
                }
            }
            Intake::Known(id) => {
                if answer == ReplyMode::Settled {
                    Box::pin(self.room().settled(caller, id)).await.map_err(refused)?;
                }
                self.as_it_stands(caller, id).await
            }
        }
    }

    async fn streamed(
        &self,
        caller: &Caller,
        taken: Intake,
        room: StreamRoom,
        kept: TaskIdentity,
    ) -> Result<SendOutcome, A2aError> {
        let id = match taken {
            Intake::Answered(message) => return Ok(SendOutcome::Reply(message)),
            Intake::Known(id) => id,
            Intake::Begun(work) => {
                let id = work.id();
                if let Some((task, seq)) = work.detach() {
                    let held = kept.held(task.clone());
                    let stream = self.room().follow_shown(room, task, seq, Until::Settled).await.map_err(refused)?;
                    return Ok(SendOutcome::Stream(held, Box::new(stream)));
                }
                id
            }
        };
        let held = self.held(caller, id).await?;
        let follow = Follow { begin: Begin::Now, until: Until::Settled };
        let stream = self.room().follow_in(room, id, follow).await.map_err(refused)?;
        Ok(SendOutcome::Stream(Box::new(held), Box::new(stream)))
    }

    async fn as_it_stands(&self, caller: &Caller, id: TaskId) -> Result<SendOutcome, A2aError> {
        self.held(caller, id).await.map(|held| SendOutcome::Task(Box::new(held)))
    }
}

/// Two messages may name the same new task at once. The one that did not make it was not taken, and must not look as if.
fn made_by(message: &MessageId, sent: SendOutcome) -> Result<SendOutcome, A2aError> {
    let (SendOutcome::Task(held) | SendOutcome::Stream(held, _)) = &sent else { return Ok(sent) };
    let Task { id, ref history, ref status, .. } = held.task;
    if history.iter().any(|said| said.message_id == *message) {
        return Ok(sent);
    }
    let state = status.state;
    let busy = KernelError::TaskBusy { id, state: TaskState::Working };
    Err(refused(if state.is_terminal() { KernelError::TaskEnded { id, state } } else { busy }))
}

fn no_agent() -> A2aError {
    A2aError::Unsupported("there is no agent here that you may talk to".to_owned())
}
