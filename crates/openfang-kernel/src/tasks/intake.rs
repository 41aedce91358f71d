//! The taking in of messages. A message makes a task, continues one, or is answered without one.
//!
//! ```text
//! take ─┬─ answered without a task
//!       ├─ not shown yet ──> the work begins; its task is stored when it is shown, or when it ends
//!       └─ stored first ───> in a task of its own, then the work begins
//! ```

use std::sync::Arc;

use openfang_store::{NewTask, StoreError};
use openfang_types::event::Seq;
use openfang_types::ids::{AgentName, ContextId, TaskId, TaskName, ToolName};
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Part, Role, Task};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::settings::agents::Agent;
use crate::tasks::log::{Closed, TaskLog, Visibility};
use crate::tasks::push::CheckedPush;
use crate::tasks::run::{Plan, Running, Settled};
use crate::tasks::{Inner, Tasks, chosen_model};
use crate::{Caller, KernelError};

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

impl Tasks {
    /// A message of a caller to an agent, with nothing that travels along.
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
        let settings = self.inner.settings();
        let agent = match &incoming.granted {
            Some(_) => settings.any_agent(&incoming.agent)?,
            None => settings.agent(&incoming.caller.principal, &incoming.agent)?,
        };
        let limit = settings.config().limits.agent_depth;
        if incoming.caller.hops > limit {
            return Err(KernelError::TooDeep { limit });
        }
        if incoming.message.parts.is_empty() {
            return Err(KernelError::InvalidMessage("it has no parts; add a text".to_owned()));
        }
        chosen_model::check(&incoming.caller, &agent.manifest, &incoming.message)?;
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
        let plan = Plan { caller, agent, log: Arc::new(log), message, told: 0, is_resumed: false, granted, cancel };
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
}

impl Inner {
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

    pub(super) fn new_task(&self, incoming: &Incoming) -> NewTask {
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
            scope: Some(incoming.caller.principal.begun_as()).filter(|scope| !scope.is_empty()),
            door: incoming.caller.door,
            trace: incoming.caller.trace,
            origin: incoming.origin,
            peer_name: incoming.peer_name.clone(),
            push: incoming.push.clone().map(|push| push.named(|| self.ids.random())),
            remote: None,
            transcript: openfang_store::TranscriptWrite::default(),
            node: self.node_id,
            at: self.clock.now(),
            live_limit: self.settings().config().limits.live_tasks_per_owner,
        }
    }
}
