//! Tasks: submit, continue, get, list, cancel. Everything a caller does not own looks like nothing.

use jiff::Timestamp;
use openfang_runtime::agents::{AgentError, AgentReply};
use openfang_runtime::context::CallContext;
use openfang_store::{Append, Created, NewTask, Position, StoreError, TaskQuery, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{AgentName, ContextId, MessageId, TaskId};
use openfang_types::limits::{CANCEL_GRACE, PAGE_DEFAULT_TASKS, PAGE_MAX_TASKS};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Part, Role, Task, TaskState};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::kernel::{Inner, Kernel};
use crate::keys::Purpose;
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

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// How many on a page.
    pub page_size: Option<usize>,
    /// Where the page begins; made by the page before.
    pub page_token: Option<String>,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct ListedTasks {
    /// The tasks, latest change first.
    pub tasks: Vec<Task>,
    /// Leads to the next page, if there is one.
    pub next_page_token: Option<String>,
    /// How many there are on all pages.
    pub total: usize,
}

/// A message on its way in, with what travels along.
struct Incoming {
    caller: Caller,
    agent: AgentName,
    message: Message,
    labels: Labels,
    hops: u8,
    cancel: CancellationToken,
}

/// What taking a message in led to.
enum Taken {
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

    /// One's own tasks, latest change first.
    pub async fn tasks(&self, caller: &Caller, filter: TaskFilter) -> Result<ListedTasks, KernelError> {
        let owner = caller.principal.owner();
        let after = match &filter.page_token {
            Some(token) => Some(self.position_of(caller, token).ok_or(KernelError::InvalidPageToken)?),
            None => None,
        };
        let query = TaskQuery {
            owner: owner.clone(),
            agent: filter.agent,
            state: filter.state,
            context_id: filter.context_id,
            limit: filter.page_size.unwrap_or(PAGE_DEFAULT_TASKS).clamp(1, PAGE_MAX_TASKS),
            after,
        };
        let page = self.inner.stores.tasks.list(&query).await?;
        Ok(ListedTasks {
            tasks: page.tasks.into_iter().map(|record| record.task).collect(),
            next_page_token: page.next.map(|position| self.token_of(caller, position)),
            total: page.total,
        })
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

    /// Asks an agent for another one: the principal stays, labels, hops and cancel travel along.
    pub(crate) async fn send_from_agent(
        &self,
        cx: &CallContext,
        agent: &AgentName,
        text: String,
    ) -> Result<AgentReply, AgentError> {
        let limit = cx.config.limits.agent_depth;
        if cx.hops >= limit {
            return Err(AgentError::TooDeep { limit });
        }
        let caller = Caller { principal: cx.principal.clone(), door: Door::Agent, trace: cx.trace };
        let cancel = cx.cancel.child_token();
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: self.message(text),
            labels: cx.context_labels(),
            hops: cx.hops + 1,
            cancel: cancel.clone(),
        };
        let refused = |error: KernelError| match error {
            KernelError::UnknownAgent(agent) => AgentError::Unknown(agent),
            error => AgentError::Refused { agent: agent.clone(), why: error.to_string() },
        };
        // If whoever asked stops waiting, the work it asked for stops too.
        let stop_with_us = cancel.drop_guard();
        let reply = match self.take(incoming).await.map_err(refused)? {
            Taken::Answered(message) => AgentReply {
                text: message.joined_text(),
                state: TaskState::Completed,
                task: None,
                labels: cx.context_labels(),
            },
            Taken::Task(record) => {
                let settled = self.settled(&caller, record.task.id).await.map_err(refused)?;
                AgentReply {
                    text: answer_of(&settled.task),
                    state: settled.task.status.state,
                    task: Some(settled.task.id),
                    labels: settled.labels,
                }
            }
        };
        stop_with_us.disarm();
        Ok(reply)
    }

    async fn take(&self, incoming: Incoming) -> Result<Taken, KernelError> {
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

    fn token_of(&self, caller: &Caller, position: Position) -> String {
        let mut payload = position.at.as_nanosecond().to_be_bytes().to_vec();
        payload.extend_from_slice(position.id.as_uuid().as_bytes());
        self.inner.keys.seal(Purpose::PageToken, caller.principal.owner(), &payload)
    }

    fn position_of(&self, caller: &Caller, token: &str) -> Option<Position> {
        let payload = self.inner.keys.open_token(Purpose::PageToken, caller.principal.owner(), token)?;
        let (at, id) = payload.split_at_checked(16)?;
        let at = Timestamp::from_nanosecond(i128::from_be_bytes(at.try_into().ok()?)).ok()?;
        Some(Position { at, id: TaskId::from_uuid(Uuid::from_slice(id).ok()?) })
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

/// What a task has to say, as one text: its artifacts, then its last message.
fn answer_of(task: &Task) -> String {
    let artifacts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let message = task.status.message.iter().flat_map(|message| &message.parts);
    let texts: Vec<&str> = artifacts.chain(message).filter_map(Part::as_text).collect();
    texts.join("\n")
}
