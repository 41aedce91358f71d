//! Tasks: messages that are sent to agents, waiting for the end of a task, looking at one. Somebody else's task looks like none.

use std::sync::Arc;

use openfang_runtime::pipeline::Pipeline;
use openfang_store::{
    AuditStore, Fit, Node, PushStore, RemoteStore, StoreError, StoreHealth, Stores, TaskRecord, TaskStore,
    TranscriptStore,
};
use openfang_types::api::Reply;
use openfang_types::clock::{Clock, IdSource};
use openfang_types::ids::{AgentName, MessageId, NodeId, TaskId, TaskName};
use openfang_types::limits::INFLIGHT_FROM_BYTES;
use openfang_types::task::{Message, Part, Role, Task, TaskState};

use crate::access::Access;
use crate::access::answer_room::Reserved;
use crate::drain::Life;
use crate::settings::{LiveSettings, Settings};
use crate::tasks::log::{Closed, Visibility};
use crate::tasks::push_hints::PushHints;
use crate::tasks::run::{LiveRuns, Settled};
use crate::tasks::sign_ins::SignIns;
use crate::tasks::streams::OpenStreams;
use crate::{Caller, KernelError};

pub(crate) mod ask;
mod cancel;
mod chosen_model;
mod client_conversation;
pub(crate) mod context;
mod continued;
mod conversation;
mod decided;
mod delegate;
mod found_agents;
mod handed_over;
mod intake;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod push;
pub(crate) mod push_hints;
mod recovery;
mod remote;
mod resend;
pub(crate) mod run;
mod sign_ins;
pub(crate) mod streams;
mod telling;
mod text;
pub(crate) mod unattended;

use conversation::Conversations;
use handed_over::HandedOver;
pub(crate) use intake::{Incoming, Intake};

/// The tasks: what this process knows of those that it works on, and the way to all others, which are in the store. Cheap to
/// clone.
#[derive(Clone)]
pub(crate) struct Tasks {
    inner: Arc<Inner>,
}

struct Inner {
    /// Under which name this process works on them.
    node_id: NodeId,
    /// Held for as long as this process lives; none for a home that no other process shares.
    node: Option<Node>,
    live: Arc<LiveRuns>,
    streams: Arc<OpenStreams>,
    /// Calls that nobody waits for.
    handed_over: HandedOver,
    /// Tasks whose agents wait until somebody signs in elsewhere.
    sign_ins: SignIns,
    /// Pushes of agents of other servers that this process waits for.
    push_hints: Arc<PushHints>,
    conversations: Conversations,
    settings: Arc<LiveSettings>,
    access: Access,
    pipeline: Arc<Pipeline>,
    store: Arc<dyn TaskStore>,
    transcripts: Arc<dyn TranscriptStore>,
    remotes: Arc<dyn RemoteStore>,
    pushes: Arc<dyn PushStore>,
    audit: Arc<dyn AuditStore>,
    health: Arc<dyn StoreHealth>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    life: Life,
}

/// What the room of the tasks is made with.
pub(crate) struct TasksParts<'a> {
    /// The name of this process, and what proves that it lives.
    pub(crate) node: (NodeId, Option<Node>),
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) access: Access,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) stores: &'a Stores,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) life: Life,
}

impl Tasks {
    pub(crate) fn new(parts: TasksParts<'_>) -> Self {
        let TasksParts { node: (node_id, node), settings, access, pipeline, stores, clock, ids, life } = parts;
        let inner = Inner {
            node_id,
            node,
            live: Arc::default(),
            streams: Arc::default(),
            handed_over: HandedOver::default(),
            sign_ins: SignIns::default(),
            push_hints: Arc::default(),
            conversations: Conversations::default(),
            settings,
            access,
            pipeline,
            store: Arc::clone(&stores.tasks),
            transcripts: Arc::clone(&stores.transcripts),
            remotes: Arc::clone(&stores.remotes),
            pushes: Arc::clone(&stores.pushes),
            audit: Arc::clone(&stores.audit),
            health: Arc::clone(&stores.health),
            clock,
            ids,
            life,
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Tasks {
    /// A user's message from a text, with a fresh id.
    pub(crate) fn message(&self, text: impl Into<String>) -> Message {
        Message::text(self.inner.message_id(), Role::User, text)
    }

    /// A message from parts, with the sender's id or a fresh one.
    pub(crate) fn message_of_parts(&self, id: Option<MessageId>, parts: Vec<Part>) -> Message {
        Message::of_parts(id.unwrap_or_else(|| self.inner.message_id()), Role::User, parts)
    }

    /// Sends a message and returns as soon as its task is stored. A message with a task id continues that task.
    pub(crate) async fn submit(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<Reply, KernelError> {
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
    pub(crate) async fn send_message(
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

    pub(crate) async fn task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        self.record(caller, id).await.map(|record| record.task)
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
        self.is_known_to(caller, id).await?;
        let mut latest = self.inner.store.watch(caller.principal.owner(), id).await.map_err(|error| match error {
            StoreError::NotFound => KernelError::UnknownTask(id),
            error => error.into(),
        })?;
        loop {
            latest.mark_unchanged();
            // Before the look at the task: a run that leaves it as working says so after its last write.
            let run = self.inner.live.get(id);
            // The whole task is read once.
            let is_settled =
                |state: TaskState| state.is_terminal() || state.is_interrupted() || self.inner.live.is_left(id);
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

    /// Whether a caller may know of a task of its owner. Whoever is narrowed knows what was begun so, and nothing else: a key
    /// that brings untrusted words must not fetch what a person's key began.
    async fn is_known_to(&self, caller: &Caller, id: TaskId) -> Result<(), KernelError> {
        let Some(narrowing) = narrowing(caller) else { return Ok(()) };
        match self.inner.store.scope(id).await {
            Ok(scope) if scope.as_deref() == Some(&*narrowing) => Ok(()),
            Ok(_) | Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
            Err(error) => Err(error.into()),
        }
    }

    /// One's own task without what happened to it.
    pub(crate) async fn head(&self, caller: &Caller, id: TaskId) -> Result<TaskRecord, KernelError> {
        self.is_known_to(caller, id).await?;
        match self.inner.store.head(caller.principal.owner(), id).await {
            Err(StoreError::NotFound) => Err(KernelError::UnknownTask(id)),
            outcome => Ok(outcome?),
        }
    }

    /// One's own task that its maker calls so.
    pub(crate) async fn find(&self, caller: &Caller, name: &TaskName) -> Result<TaskId, StoreError> {
        let id = self.inner.store.find(caller.principal.owner(), name).await?;
        self.is_known_to(caller, id).await.map_err(|_| StoreError::NotFound)?;
        Ok(id)
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
        self.is_known_to(caller, id).await?;
        let (tasks, owner) = (&self.inner.store, caller.principal.owner());
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

/// What narrows a caller; none for a whole one, who knows of all that is its owner's.
fn narrowing(caller: &Caller) -> Option<String> {
    Some(caller.principal.begun_as()).filter(|narrowing| !narrowing.is_empty())
}

impl Inner {
    /// The settings in force.
    fn settings(&self) -> Arc<Settings> {
        self.settings.current()
    }

    /// Ordered by time, because the store finds messages by their ids: new ones then lie side by side.
    #[expect(clippy::expect_used, reason = "a UUID is a valid message id")]
    pub(crate) fn message_id(&self) -> MessageId {
        self.ids.ordered().to_string().parse().expect("a UUID is a valid message id")
    }
}
