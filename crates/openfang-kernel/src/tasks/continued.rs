//! Messages to a task that waits for one.

use std::sync::Arc;

use openfang_store::{Append, RemoteRecord, Stamp, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::TaskId;
use openfang_types::limits::TASK_MAX_BYTES;
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, TaskState};

use super::Incoming;
use crate::KernelError;
use crate::tasks::log::{Closed, TaskLog};
use crate::tasks::{Inner, Tasks};

impl Tasks {
    /// Adds a message to a task that asked for one; from now on this process works on it. A message that the task has
    /// already is not added again.
    pub(super) async fn continued(&self, incoming: &Incoming, id: TaskId) -> Result<Option<TaskLog>, KernelError> {
        let record = self.record(&incoming.caller, id).await?;
        if record.task.agent != incoming.agent {
            return Err(KernelError::UnknownTask(id));
        }
        if incoming
            .message
            .context_id
            .as_ref()
            .is_some_and(|context| *context != record.task.context_id)
        {
            return Err(KernelError::InvalidMessage("its context id is not that of the task it continues".to_owned()));
        }
        if self.inner.is_resent(&record.task.history, &incoming.message) {
            return Ok(None);
        }
        let size = record.task.history.iter().chain([&incoming.message]).map(Message::size).sum::<usize>();
        if size > TASK_MAX_BYTES {
            let why = "the conversation of this task is as large as one may be; begin a new task";
            return Err(KernelError::InvalidMessage(why.to_owned()));
        }
        let state = record.task.status.state;
        if state.is_terminal() {
            let is_repeated = self.inner.is_repeated(&record.task.history, incoming);
            return if is_repeated { Ok(None) } else { Err(KernelError::TaskEnded { id, state }) };
        }
        if !state.is_interrupted() && !self.inner.live.is_left(id) {
            return match self.is_heard(incoming, id).await? {
                true => Ok(None),
                false => Err(KernelError::TaskBusy { id, state }),
            };
        }
        if let Some(push) = &incoming.push {
            self.add_push(&record, push.clone()).await?;
        }
        let was_left = self.inner.live.take_left(id);
        if !state.is_interrupted() && !was_left {
            return Err(KernelError::TaskBusy { id, state });
        }
        let status = self.inner.status(&record.task, TaskState::Working, Vec::new());
        let events = vec![EventBody::Message(incoming.message.clone()), EventBody::Status(status)];
        let stamp = match self
            .inner
            .append(&record, events.clone(), incoming.labels.clone(), Some(incoming.caller.door))
            .await
        {
            // Somebody was faster: another answer, or a cancel.
            Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => {
                let state = self.head(&incoming.caller, id).await?.task.status.state;
                let is_over = state.is_terminal();
                let busy = KernelError::TaskBusy { id, state: TaskState::Working };
                return Err(if is_over { KernelError::TaskEnded { id, state } } else { busy });
            }
            Err(error) => {
                // The next message may go on with it.
                if was_left {
                    self.inner.live.leave(id);
                }
                return Err(error.into());
            }
            Ok(stamp) => stamp,
        };
        let TaskRecord { mut task, owner, labels, .. } = record;
        events.iter().for_each(|event| task.apply(event));
        let remote = match self.inner.remote_agent(&task.agent) {
            Some(_) => self.inner.remotes.get(id).await?,
            None => None,
        };
        let labels = labels.joined(&incoming.labels);
        Ok(Some(TaskLog::resume(Arc::clone(&self.inner), owner, task, labels, stamp).with_remote(remote)))
    }
}

impl Tasks {
    /// Gives a message to the run that works on the task, if that listens.
    async fn is_heard(&self, incoming: &Incoming, id: TaskId) -> Result<bool, KernelError> {
        let Some(log) = self.inner.live.get(id).and_then(|live| live.hearing) else { return Ok(false) };
        match log.hear(&incoming.message, &incoming.labels, incoming.caller.door).await {
            Ok(is_heard) => Ok(is_heard),
            Err(Closed::Refused(StoreError::Conflict | StoreError::NotAllowed { .. }) | Closed::Superseded(_)) => {
                Ok(false)
            }
            Err(Closed::Refused(error)) => Err(error.into()),
        }
    }
}

impl Inner {
    /// A write by whoever does not run the task; the task is this process's afterwards. The door is that of the message that
    /// continues it, if one does.
    pub(crate) async fn append(
        &self,
        record: &TaskRecord,
        events: Vec<EventBody>,
        labels: Labels,
        door: Option<Door>,
    ) -> Result<Stamp, StoreError> {
        self.store.append(Append { door, ..self.write(record, events, labels) }).await
    }

    /// The same, with what is known of the remote side from now on.
    pub(crate) async fn append_with(
        &self,
        record: &TaskRecord,
        events: Vec<EventBody>,
        labels: Labels,
        remote: Option<RemoteRecord>,
    ) -> Result<Stamp, StoreError> {
        self.store.append(Append { remote, ..self.write(record, events, labels) }).await
    }

    fn write(&self, record: &TaskRecord, events: Vec<EventBody>, labels: Labels) -> Append {
        Append {
            owner: record.owner.clone(),
            id: record.task.id,
            version: record.version,
            events,
            labels,
            remote: None,
            transcript: openfang_store::TranscriptWrite::default(),
            node: Some(self.node_id),
            door: None,
            at: self.clock.now(),
        }
    }
}
