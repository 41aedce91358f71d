//! Tasks: messages that make one, waiting for its end, looking at it. Everything a caller does not own looks like nothing.

use std::sync::Arc;

use openfang_store::{Fit, NewTask, StoreError, TaskRecord};
use openfang_types::event::Seq;
use openfang_types::ids::{AgentName, ContextId, MessageId, NodeId, TaskId, TaskName, ToolName};
use openfang_types::limits::INFLIGHT_FROM_BYTES;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Part, Role, Task, TaskState};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::access::answer_room::Reserved;
use crate::kernel::{Inner, Kernel};
use crate::settings::agents::Agent;
use crate::tasks::log::{Closed, TaskLog, Visibility};
use crate::tasks::push::CheckedPush;
use crate::tasks::run::{LiveRuns, Plan, Running, Settled};
use crate::tasks::streams::OpenStreams;
use crate::{Caller, KernelError};

pub(crate) mod cancel;
mod continued;
pub(crate) mod delegate;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod push;
pub(crate) mod recovery;
mod remote;
mod resend;
pub(crate) mod run;
pub(crate) mod streams;
mod text;

/// What this process knows of the tasks that it works on. Everything else of a task is in the store.
pub(crate) struct Tasks {
    /// Under which name this process works on them.
    node_id: NodeId,
    live: Arc<LiveRuns>,
    streams: Arc<OpenStreams>,
}

impl Tasks {
    pub(crate) fn of(node_id: NodeId) -> Self {
        Self { node_id, live: Arc::default(), streams: Arc::default() }
    }
}

/// What a message led to.
#[derive(Debug, Clone)]
pub enum Reply {
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
    pub(crate) origin: Origin,
    pub(crate) peer_name: Option<TaskName>,
    /// Where to tell what happens, checked.
    pub(crate) push: Option<CheckedPush>,
    /// The tool whose call it is, for which a permit was given: whoever may use it may talk to the agent.
    pub(crate) granted: Option<ToolName>,
    pub(crate) cancel: CancellationToken,
    pub(crate) visibility: Visibility,
}

/// What taking a message in led to.
pub(crate) enum Intake {
    /// Work that began. Its task is stored when it is shown, or when it ends.
    Begun(Work),
    /// The same message made this task before.
    Known(TaskId),
    /// An answer that needed none.
    Answered(Message),
}

/// What storing a message led to.
enum StoredTurn {
    Begun {
        id: TaskId,
        shown: Option<StoredTask>,
        run: Running,
    },
    /// The same message made this task before.
    Known(TaskId),
}

/// A task as it was stored before the work on it began, and after how many events.
type StoredTask = Box<(Task, Seq)>;

/// Work that began. Nobody does it before it is waited for or detached.
#[must_use]
pub(crate) struct Work {
    id: TaskId,
    /// None if the task was not stored before the work began.
    shown: Option<StoredTask>,
    run: Running,
}

impl Work {
    /// Whose work it is.
    pub(crate) const fn id(&self) -> TaskId {
        self.id
    }

    /// Lets the work go on by itself. Gives what its maker is shown first, if the task was stored before the work began.
    pub(crate) fn detach(self) -> Option<(Task, Seq)> {
        drop(self.run.detach());
        self.shown.map(|shown| *shown)
    }
}

impl Kernel {
    /// A user's message from a text, with a fresh id.
    pub fn message(&self, text: impl Into<String>) -> Message {
        Message::text(self.inner.message_id(), Role::User, text)
    }

    /// A message from parts, with the sender's id or a fresh one.
    pub fn message_of_parts(&self, id: Option<MessageId>, parts: Vec<Part>) -> Message {
        Message::of_parts(id.unwrap_or_else(|| self.inner.message_id()), Role::User, parts)
    }

    /// Sends a message and returns as soon as its task is stored. A message with a task id continues that task.
    pub async fn submit(&self, caller: &Caller, agent: &AgentName, message: Message) -> Result<Reply, KernelError> {
        let incoming = self.incoming(caller, agent, message, Visibility::Seen);
        let task = match self.take(incoming).await? {
            Intake::Answered(message) => return Ok(Reply::Message(message)),
            Intake::Known(id) => self.task(caller, id).await?,
            Intake::Begun(work) => {
                let id = work.id();
                match work.detach() {
                    Some((task, _)) => task,
                    None => self.task(caller, id).await?,
                }
            }
        };
        Ok(Reply::Task(Box::new(task)))
    }

    /// Sends a message and waits until the task has ended or asks for something.
    pub async fn send_message(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<Reply, KernelError> {
        let incoming = self.incoming(caller, agent, message, Visibility::Unseen);
        let settled = match self.take(incoming).await? {
            Intake::Answered(message) => return Ok(Reply::Message(message)),
            Intake::Known(id) => self.settled(caller, id).await?,
            Intake::Begun(work) => self.end_of(caller, work).await?,
        };
        Ok(Reply::Task(Box::new(settled.task)))
    }

    pub async fn task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        self.record(caller, id).await.map(|record| record.task)
    }

    pub(crate) fn incoming(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
        visibility: Visibility,
    ) -> Incoming {
        Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message,
            labels: caller.entry_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            granted: None,
            cancel: CancellationToken::new(),
            visibility,
        }
    }

    /// Takes a message in and begins the work.
    pub(crate) async fn take(&self, mut incoming: Incoming) -> Result<Intake, KernelError> {
        let agent = match &incoming.granted {
            Some(_) => self.inner.any_agent(&incoming.agent)?,
            None => self.inner.agent(&incoming.caller.principal, &incoming.agent)?,
        };
        let limit = self.inner.settings().config().limits.agent_depth;
        if incoming.caller.hops > limit {
            return Err(KernelError::TooDeep { limit });
        }
        if incoming.message.parts.is_empty() {
            return Err(KernelError::InvalidMessage("it has no parts; add a text".to_owned()));
        }
        incoming.labels.join(&self.inner.pipeline.labels_of(&incoming.message.parts));
        if incoming.message.task_id.is_none() {
            if let Some(refusal) = agent.answerer.refusal(&incoming.message) {
                return Err(KernelError::RefusedByAgent(refusal));
            }
            if let Some(parts) = agent.answerer.plain_reply(&incoming.message) {
                return Ok(Intake::Answered(self.inner.reply_to(&incoming.message, parts)));
            }
            if incoming.visibility == Visibility::Unseen {
                let log = TaskLog::begin(Arc::clone(&self.inner), self.inner.new_task(&incoming));
                let (id, run) = self.begin_turn(incoming, agent, log);
                return Ok(Intake::Begun(Work { id, shown: None, run }));
            }
        }
        // Boxed, because most messages come another way: the future would be as large for all.
        Box::pin(self.take_apart(incoming, agent)).await
    }

    /// Takes in a message that is stored before the work on it begins. That is done in a task of its own: a caller who leaves in
    /// the middle leaves no stored message behind that nobody works on.
    async fn take_apart(&self, incoming: Incoming, agent: Arc<Agent>) -> Result<Intake, KernelError> {
        let (tell, told) = oneshot::channel();
        let kernel = self.clone();
        let run = self.inner.life.tracker().spawn(async move {
            // Whoever has left does not hear of it.
            match kernel.stored_turn(incoming, agent).await {
                Ok(StoredTurn::Begun { id, shown, run }) => {
                    let _ = tell.send(Ok((id, Some(shown))));
                    run.wait_here().await
                }
                Ok(StoredTurn::Known(id)) => {
                    let _ = tell.send(Ok((id, None)));
                    Err(Closed::Superseded(id))
                }
                Err(error) => {
                    let _ = tell.send(Err(error));
                    Err(Closed::Refused(StoreError::Conflict))
                }
            }
        });
        match told.await {
            Ok(Ok((id, Some(shown)))) => Ok(Intake::Begun(Work { id, shown, run: Running::Apart(run) })),
            Ok(Ok((id, None))) => Ok(Intake::Known(id)),
            Ok(Err(error)) => Err(error),
            Err(_broke) => Err(StoreError::Conflict.into()),
        }
    }

    /// Stores a message, and then begins the work on it: whoever wants to see the task is told of it only when it is stored,
    /// and work is begun only on one that is.
    async fn stored_turn(&self, incoming: Incoming, agent: Arc<Agent>) -> Result<StoredTurn, KernelError> {
        let log = match incoming.message.task_id {
            Some(id) => match self.continued(&incoming, id).await? {
                Some(log) => log,
                None => return Ok(StoredTurn::Known(id)),
            },
            None => TaskLog::begin(Arc::clone(&self.inner), self.inner.new_task(&incoming)),
        };
        let shown = match incoming.visibility {
            Visibility::Unseen => None,
            Visibility::Seen => match log.show().await {
                Ok(seq) => Some(Box::new((log.snapshot().await, seq))),
                Err(Closed::Superseded(other)) => return Ok(StoredTurn::Known(other)),
                Err(Closed::Refused(error)) => return Err(error.into()),
            },
        };
        let (id, run) = self.begin_turn(incoming, agent, log);
        Ok(StoredTurn::Begun { id, shown, run })
    }

    fn begin_turn(&self, incoming: Incoming, agent: Arc<Agent>, log: TaskLog) -> (TaskId, Running) {
        let id = log.id();
        let Incoming { caller, message, granted, cancel, .. } = incoming;
        let plan = Plan { caller, agent, log: Arc::new(log), message, told: 0, granted, cancel };
        (id, self.begin_run(id, plan))
    }

    /// Waits for the end of work that began here. It goes on when the waiting is given up.
    pub(crate) async fn end_of(&self, caller: &Caller, work: Work) -> Result<Settled, KernelError> {
        self.ended(caller, work.id, work.run.wait().await).await
    }

    /// The same for those who may stand still themselves, or are part of a run: the work goes on beside them.
    pub(crate) async fn end_of_apart(&self, caller: &Caller, work: Work) -> Result<Settled, KernelError> {
        self.ended(caller, work.id, work.run.wait_apart().await).await
    }

    async fn ended(&self, caller: &Caller, id: TaskId, run: Result<Settled, Closed>) -> Result<Settled, KernelError> {
        let elsewhere = match run {
            Ok(settled) => return Ok(settled),
            Err(Closed::Superseded(other)) => other,
            Err(Closed::Refused(StoreError::Conflict | StoreError::NotAllowed { .. })) => id,
            Err(Closed::Refused(error)) => return Err(error.into()),
        };
        Box::pin(self.settled(caller, elsewhere)).await
    }

    /// Waits until the task has ended or asks for something, whichever process works on it.
    pub(crate) async fn settled(&self, caller: &Caller, id: TaskId) -> Result<Settled, KernelError> {
        let mut latest =
            self.inner
                .stores
                .tasks
                .watch(caller.principal.owner(), id)
                .await
                .map_err(|error| match error {
                    StoreError::NotFound => KernelError::UnknownTask(id),
                    error => error.into(),
                })?;
        loop {
            latest.mark_unchanged();
            // Before the look at the task: a run that leaves it as working says so after its last write.
            let run = self.inner.tasks.live.get(id);
            // The whole task is read once.
            let is_settled =
                |state: TaskState| state.is_terminal() || state.is_interrupted() || self.inner.tasks.live.is_left(id);
            if is_settled(self.head(caller, id).await?.task.status.state) {
                let (TaskRecord { task, labels, .. }, room) = self.read_whole(caller, id).await?;
                if is_settled(task.status.state) {
                    room.into_iter().for_each(Reserved::keep);
                    return Ok(Settled { task, labels });
                }
            }
            let left = async {
                match run {
                    Some(run) => run.done.cancelled().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = latest.changed() => if changed.is_err() {
                    let TaskRecord { task, labels, .. } = self.record(caller, id).await?;
                    return Ok(Settled { task, labels });
                },
                () = left => {}
            }
        }
    }

    /// One's own task without what happened to it.
    pub(crate) async fn head(&self, caller: &Caller, id: TaskId) -> Result<TaskRecord, KernelError> {
        match self.inner.stores.tasks.head(caller.principal.owner(), id).await {
            Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
            outcome => Ok(outcome?),
        }
    }

    pub(crate) async fn record(&self, caller: &Caller, id: TaskId) -> Result<TaskRecord, KernelError> {
        let (record, room) = self.read_whole(caller, id).await?;
        room.into_iter().for_each(Reserved::keep);
        Ok(record)
    }

    /// Reads a whole task, which is done nowhere else. There is room for a large one before it is read.
    pub(crate) async fn read_whole(
        &self,
        caller: &Caller,
        id: TaskId,
    ) -> Result<(TaskRecord, Option<Reserved>), KernelError> {
        let (tasks, owner) = (&self.inner.stores.tasks, caller.principal.owner());
        let mut room = None;
        let mut max_bytes = INFLIGHT_FROM_BYTES;
        loop {
            let read = match tasks.get_within(owner, id, max_bytes).await {
                Err(StoreError::NotFound) => return Err(KernelError::UnknownTask(id)),
                read => read?,
            };
            match read {
                Fit::Whole(record) => return Ok((record, room)),
                Fit::TooLarge(bytes) => {
                    // What was reserved for less is given back first, or two could wait for each other.
                    drop(room.take());
                    // A task that goes on may grow meanwhile.
                    max_bytes = bytes.saturating_add(INFLIGHT_FROM_BYTES);
                    room = Some(caller.reserve(bytes).await?);
                }
            }
        }
    }
}

impl Inner {
    /// Ordered by time, because the store finds messages by their ids: new ones then lie side by side.
    #[expect(clippy::expect_used, reason = "a UUID is a valid message id")]
    pub(crate) fn message_id(&self) -> MessageId {
        self.ids.ordered().to_string().parse().expect("a UUID is a valid message id")
    }

    #[expect(clippy::expect_used, reason = "a UUID is a valid context id")]
    fn new_context_id(&self) -> ContextId {
        self.ids.ordered().to_string().parse().expect("a UUID is a valid context id")
    }

    fn reply_to(&self, message: &Message, parts: Vec<Part>) -> Message {
        Message {
            context_id: Some(message.context_id.clone().unwrap_or_else(|| self.new_context_id())),
            ..Message::of_parts(self.message_id(), Role::Agent, parts)
        }
    }

    fn new_task(&self, incoming: &Incoming) -> NewTask {
        let id = TaskId::from_uuid(self.ids.ordered());
        NewTask {
            id,
            owner: incoming.caller.principal.owner().clone(),
            agent: incoming.agent.clone(),
            context_id: incoming.message.context_id.clone().unwrap_or_else(|| self.new_context_id()),
            message: incoming.message.clone(),
            resend_key: self.resend_key(id, &incoming.message),
            events: Vec::new(),
            labels: incoming.labels.clone(),
            scope: Some(incoming.caller.principal.scope()).filter(|scope| !scope.is_empty()),
            trace: incoming.caller.trace,
            origin: incoming.origin,
            peer_name: incoming.peer_name.clone(),
            push: incoming.push.clone().map(|push| push.named(|| self.ids.random())),
            remote: None,
            node: self.tasks.node_id,
            at: self.clock.now(),
            live_limit: self.settings().config().limits.live_tasks_per_owner,
        }
    }
}
