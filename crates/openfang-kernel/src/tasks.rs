//! Tasks: submit, continue, get, list, cancel. Everything a caller does not own looks like nothing.

use openfang_store::{Append, Created, NewTask, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{AgentName, ContextId, MessageId, TaskId};
use openfang_types::limits::CANCEL_GRACE;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Part, Role, Task, TaskState};
use tokio_util::sync::CancellationToken;

use crate::kernel::{Inner, Kernel};
use crate::run::Plan;
use crate::{Caller, KernelError};

/// What a message led to.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A task.
    Task(Box<Task>),
    /// An answer that needed none.
    Message(Message),
}

/// A message on its way in, with what travels along.
pub(crate) struct Incoming {
    pub(crate) caller: Caller,
    pub(crate) agent: AgentName,
    pub(crate) message: Message,
    pub(crate) labels: Labels,
    pub(crate) hops: u8,
    pub(crate) cancel: CancellationToken,
}

/// What taking a message in led to.
pub(crate) enum Taken {
    Task(Box<TaskRecord>),
    Answered(Message),
}

impl Kernel {
    /// A user's message from a text, with a fresh id.
    pub fn message(&self, text: impl Into<String>) -> Message {
        Message::text(self.inner.message_id(), Role::User, text)
    }

    /// A message from parts, with the sender's id or a fresh one.
    pub fn message_of_parts(&self, id: Option<MessageId>, parts: Vec<Part>) -> Message {
        Message { parts, ..Message::text(id.unwrap_or_else(|| self.inner.message_id()), Role::User, "") }
    }

    /// Sends a message and returns as soon as it is taken. A message with a task id continues that task.
    pub async fn submit(&self, caller: &Caller, agent: &AgentName, message: Message) -> Result<Reply, KernelError> {
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message,
            labels: caller.entry_labels(),
            hops: 0,
            cancel: CancellationToken::new(),
        };
        Ok(match self.take(incoming).await? {
            Taken::Task(record) => Reply::Task(Box::new(record.task)),
            Taken::Answered(message) => Reply::Message(message),
        })
    }

    /// Sends a message and waits until the task has ended or asks for something.
    pub async fn send_message(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<Reply, KernelError> {
        match self.submit(caller, agent, message).await? {
            Reply::Task(task) => {
                let settled = self.settled(caller, task.id).await?;
                Ok(Reply::Task(Box::new(settled.task)))
            }
            reply @ Reply::Message(_) => Ok(reply),
        }
    }

    /// One's own task.
    pub async fn task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        self.record(caller, id).await.map(|record| record.task)
    }

    /// Stops the work, then records it. A task that has ended stays as it is.
    pub async fn cancel_task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        let record = self.record(caller, id).await?;
        if record.task.status.state.is_terminal() {
            return Err(KernelError::NotCancelable { id, state: record.task.status.state });
        }
        if let Some(live) = self.inner.live.get(id) {
            live.cancel.cancel();
            // The run writes its own end; if it cannot, the write below does.
            let _ = tokio::time::timeout(CANCEL_GRACE, live.done.cancelled()).await;
        }
        loop {
            let record = self.record(caller, id).await?;
            match record.task.status.state {
                TaskState::Canceled => return Ok(record.task),
                state if state.is_terminal() => return Err(KernelError::NotCancelable { id, state }),
                _ => {}
            }
            let status = self.inner.status(&record.task, TaskState::Canceled, Vec::new());
            match self.inner.append(&record, vec![EventBody::Status(status)], Labels::none()).await {
                Ok(record) => return Ok(record.task),
                Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(crate) async fn take(&self, incoming: Incoming) -> Result<Taken, KernelError> {
        let agent = std::sync::Arc::clone(self.inner.agent(&incoming.caller.principal, &incoming.agent)?);
        if incoming.message.parts.is_empty() {
            return Err(KernelError::InvalidMessage("it has no parts; add a text".to_owned()));
        }
        let record = match incoming.message.task_id {
            Some(id) => self.continued(&incoming, id).await?,
            None => {
                if let Some(parts) = agent.model.plain_reply(&incoming.message) {
                    return Ok(Taken::Answered(self.inner.reply_to(&incoming.message, parts)));
                }
                match self.inner.stores.tasks.create(self.inner.new_task(&incoming)).await? {
                    Created::Known(record) => return Ok(Taken::Task(Box::new(record))),
                    Created::New(record) => record,
                }
            }
        };
        let Incoming { caller, message, hops, cancel, .. } = incoming;
        self.spawn_run(Plan { caller, agent, record: record.clone(), message, hops, cancel });
        Ok(Taken::Task(Box::new(record)))
    }

    /// Adds a message to a task that asked for one.
    async fn continued(&self, incoming: &Incoming, id: TaskId) -> Result<TaskRecord, KernelError> {
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
        let state = record.task.status.state;
        if state.is_terminal() {
            return Err(KernelError::TaskEnded { id, state });
        }
        if !state.is_interrupted() {
            return Err(KernelError::TaskBusy { id, state });
        }
        let status = self.inner.status(&record.task, TaskState::Working, Vec::new());
        let events = vec![EventBody::Message(incoming.message.clone()), EventBody::Status(status)];
        match self.inner.append(&record, events, incoming.labels.clone()).await {
            Err(StoreError::Conflict) => Err(KernelError::TaskBusy { id, state: TaskState::Working }),
            outcome => Ok(outcome?),
        }
    }

    /// Waits until the task has ended or asks for something.
    pub(crate) async fn settled(&self, caller: &Caller, id: TaskId) -> Result<TaskRecord, KernelError> {
        let owner = caller.principal.owner();
        let mut latest = self.inner.stores.tasks.watch(owner, id).await?;
        loop {
            latest.mark_unchanged();
            let record = self.record(caller, id).await?;
            let state = record.task.status.state;
            if state.is_terminal() || state.is_interrupted() || latest.changed().await.is_err() {
                return Ok(record);
            }
        }
    }

    pub(crate) async fn record(&self, caller: &Caller, id: TaskId) -> Result<TaskRecord, KernelError> {
        match self.inner.stores.tasks.get(caller.principal.owner(), id).await {
            Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
            outcome => Ok(outcome?),
        }
    }
}

impl Inner {
    #[expect(clippy::expect_used, reason = "a UUID is a valid message id")]
    pub(crate) fn message_id(&self) -> MessageId {
        self.ids.random().to_string().parse().expect("a UUID is a valid message id")
    }

    #[expect(clippy::expect_used, reason = "a UUID is a valid context id")]
    fn new_context_id(&self) -> ContextId {
        self.ids.random().to_string().parse().expect("a UUID is a valid context id")
    }

    fn reply_to(&self, message: &Message, parts: Vec<Part>) -> Message {
        Message {
            role: Role::Agent,
            parts,
            context_id: Some(message.context_id.clone().unwrap_or_else(|| self.new_context_id())),
            ..Message::text(self.message_id(), Role::Agent, "")
        }
    }

    fn new_task(&self, incoming: &Incoming) -> NewTask {
        NewTask {
            id: TaskId::from_uuid(self.ids.ordered()),
            owner: incoming.caller.principal.owner().clone(),
            agent: incoming.agent.clone(),
            context_id: incoming.message.context_id.clone().unwrap_or_else(|| self.new_context_id()),
            message: incoming.message.clone(),
            labels: incoming.labels.clone(),
            trace: incoming.caller.trace,
            at: self.clock.now(),
            live_limit: self.config.limits.live_tasks_per_owner,
        }
    }

    async fn append(
        &self,
        record: &TaskRecord,
        events: Vec<EventBody>,
        labels: Labels,
    ) -> Result<TaskRecord, StoreError> {
        let write = Append {
            owner: record.owner.clone(),
            id: record.task.id,
            version: record.version,
            events,
            labels,
            at: self.clock.now(),
        };
        self.stores.tasks.append(write).await
    }
}
