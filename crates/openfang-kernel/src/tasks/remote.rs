//! Tasks that agents of other servers work on: their remote side as a turn begins, cancels that have to be told, and
//! messages from the tools of such agents.

use std::sync::Arc;

use openfang_runtime::agents::{AgentError, AgentTask, ExternalMessage};
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Permit;
use openfang_store::{RemoteRecord, StoreError, TaskQuery};
use openfang_types::call::CallListener;
use openfang_types::config::external_tool_name;
use openfang_types::event::{EventBody, StreamItem, Until};
use openfang_types::ids::{AgentName, ContextId, NodeId, TaskId};
use openfang_types::limits::{EXTERNAL_NOTICE, MCP_PROGRESS_CHARS};
use openfang_types::task::{Message, Origin, TaskParts};

use crate::settings::agents::Agent;
use crate::tasks::ask::AgentAnswer;
use crate::tasks::client_conversation::conversation_of;
use crate::tasks::log::{TaskLog, Visibility};
use crate::tasks::run::Settled;
use crate::tasks::streams::{Begin, Follow};
use crate::tasks::{Incoming, Inner, Tasks, narrowing};
use crate::{Caller, KernelError};

/// The remote side of a task as a turn begins.
#[derive(Default)]
pub(crate) struct RemoteSide {
    pub(crate) record: Option<RemoteRecord>,
    /// The agent's name for the conversation, if the task is new in one that goes on.
    pub(crate) context: Option<ContextId>,
}

impl Inner {
    /// The remote side of a task, if an agent of another server works on it.
    pub(crate) async fn remote_side(
        &self,
        caller: &Caller,
        agent: &Agent,
        log: &TaskLog,
        message: &Message,
    ) -> RemoteSide {
        if !agent.answerer.is_remote() {
            return RemoteSide::default();
        }
        let record = log.remote().await;
        let context = match (&record, &message.context_id) {
            (None, Some(ours)) => {
                let (owner, name) = (caller.principal.owner(), &agent.manifest.name);
                // Without it the agent begins another conversation, which is better than no answer.
                self.remotes.context(owner, name, ours).await.unwrap_or_default()
            }
            (Some(_), _) | (_, None) => None,
        };
        RemoteSide { record, context }
    }

    /// Tells an agent that a task was canceled, and forgets its remote side when that is done. What does not get done in this
    /// process is done by the next one.
    pub(crate) fn tell_of_cancel(&self, agent: &Agent, task: TaskId, remote: RemoteRecord) {
        if !self.live.begin_telling(task) {
            return;
        }
        let (remotes, stop) = (Arc::clone(&self.remotes), self.life.stop().clone());
        let telling = agent.answerer.cancel(remote);
        let live = Arc::clone(&self.live);
        self.life.tracker().spawn(async move {
            let done = match telling {
                Some(telling) => stop.run_until_cancelled(telling).await.is_some(),
                None => true,
            };
            if done && let Err(error) = remotes.forget(task).await {
                tracing::warn!(%error, %task, "a delivered cancel is not recorded");
            }
            live.end_telling(task);
        });
    }

    /// The agent of a task, if it is one of another server.
    pub(crate) fn remote_agent(&self, name: &AgentName) -> Option<Arc<Agent>> {
        self.settings().agents().get(name).filter(|agent| agent.answerer.is_remote()).cloned()
    }
}

impl Tasks {
    /// Tells agents of cancels that processes which died did not live to tell.
    pub(super) async fn tell_of_old_cancels(&self, living: &[NodeId]) -> Result<(), KernelError> {
        for (task, remote) in self.inner.remotes.untold_cancels(living).await? {
            match self.inner.remote_agent(&remote.agent) {
                Some(agent) => self.inner.tell_of_cancel(&agent, task, remote),
                // The agent is configured no more.
                None => self.inner.remotes.forget(task).await?,
            }
        }
        Ok(())
    }

    /// Sends a message to an external agent for whoever was allowed to use its tool.
    pub(super) async fn send_from_tool(
        &self,
        cx: &CallContext,
        message: ExternalMessage<'_>,
        _: Permit,
    ) -> Result<AgentTask, AgentError> {
        let ExternalMessage { agent, parts, task, context } = message;
        let caller = self.caller_in(cx);
        // A local agent of the same name is another agent.
        if self.inner.remote_agent(agent).is_none() {
            return Err(AgentError::Unknown(agent.clone()));
        }
        if let (Some(context), None) = (&context, task) {
            self.knows_conversation(&caller, agent, context).await?;
        }
        let context = context.or_else(|| conversation_of(cx, agent).filter(|_| task.is_none()));
        let listener = cx.back.listener.clone().filter(|listener| listener.wants_progress());
        let is_told_at_once = cx.back.patience.as_ref().is_some_and(|patience| patience.hold.is_zero());
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: Message { task_id: task, context_id: context, ..self.message_of_parts(None, parts) },
            labels: cx.context_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            granted: external_tool_name(agent).parse().ok(),
            cancel: cx.cancel.clone(),
            visibility: if listener.is_some() || is_told_at_once { Visibility::Seen } else { Visibility::Unseen },
        };
        let report = async |id| {
            if let Some(listener) = &listener {
                self.report_to(&caller, id, (agent, &**listener)).await;
            }
        };
        match self
            .ask(incoming, cx.back.patience.as_ref(), report)
            .await
            .map_err(|error| refused(agent, error))?
        {
            AgentAnswer::Message(_) => Err(AgentError::Unknown(agent.clone())),
            AgentAnswer::Task(Settled { task, labels }) => Ok(AgentTask { task, labels }),
        }
    }

    /// A task of an external agent, for whoever called its tool.
    pub(super) async fn task_for_tool(
        &self,
        cx: &CallContext,
        agent: &AgentName,
        id: TaskId,
    ) -> Result<AgentTask, AgentError> {
        let record = self.record(&self.caller_in(cx), id).await.map_err(|error| refused(agent, error))?;
        if record.task.agent != *agent {
            return Err(refused(agent, KernelError::UnknownTask(id)));
        }
        Ok(AgentTask { task: record.task, labels: record.labels })
    }

    /// The same for a task that waits for a sign-in, once its agent goes on.
    pub(super) async fn signed_in_task_for_tool(
        &self,
        cx: &CallContext,
        agent: &AgentName,
        id: TaskId,
    ) -> Result<AgentTask, AgentError> {
        // Another agent's task is none.
        self.task_for_tool(cx, agent, id).await?;
        let caller = self.caller_in(cx);
        let settled = self.signed_in_within(&caller, id, cx.back.patience.as_ref());
        let canceled = cx.cancel.cancelled();
        let Settled { task, labels } = tokio::select! {
            biased;
            () = canceled => return self.task_for_tool(cx, agent, id).await,
            settled = settled => settled.map_err(|error| refused(agent, error))?,
        };
        Ok(AgentTask { task, labels })
    }

    fn caller_in(&self, cx: &CallContext) -> Caller {
        Caller { principal: Arc::clone(&cx.principal), door: cx.door, trace: cx.trace, hops: cx.hops, room: None }
    }

    /// Whether the owner has this conversation with this agent. Somebody else's is none.
    async fn knows_conversation(
        &self,
        caller: &Caller,
        agent: &AgentName,
        context: &ContextId,
    ) -> Result<(), AgentError> {
        let query = TaskQuery {
            owner: caller.principal.owner().clone(),
            agent: Some(agent.clone()),
            state: None,
            context_id: Some(context.clone()),
            changed_since: None,
            scope: narrowing(caller),
            limit: 1,
            after: None,
            parts: TaskParts::ROW,
            max_bytes: usize::MAX,
        };
        let found = self.inner.store.list(&query).await;
        match found.map_err(|error: StoreError| refused(agent, error.into()))?.tasks.is_empty() {
            true => Err(AgentError::UnknownContext(context.clone())),
            false => Ok(()),
        }
    }

    /// Tells a listener what happens to a task until it has ended or asks for something. Numbers rise, and a silent agent is
    /// reported too: clients give up calls that say nothing.
    async fn report_to(&self, caller: &Caller, id: TaskId, (agent, listener): (&AgentName, &dyn CallListener)) {
        let follow = Follow { begin: Begin::After(0), until: Until::Settled };
        let Ok(mut stream) = self.follow(caller, id, follow).await else { return };
        let (mut number, mut last) = (1.0, format!("{agent}: task {id}"));
        listener.progress(number, None, Some(&last));
        loop {
            match tokio::time::timeout(EXTERNAL_NOTICE, stream.next()).await {
                Ok(Ok(Some(StreamItem::Event(event)))) => match notice(&event.body) {
                    Some(text) => last = format!("{agent}: {text}"),
                    None => continue,
                },
                Ok(Ok(Some(_))) => continue,
                Ok(Ok(None) | Err(_)) => return,
                Err(_silence) => {}
            }
            number += 1.0;
            listener.progress(number, None, Some(&last));
        }
    }
}

/// What an event of an agent's task means to somebody who waits, as one line; none if it is no news.
fn notice(event: &EventBody) -> Option<String> {
    let text = match event {
        EventBody::Message(_) => return None,
        EventBody::Status(status) => match &status.message {
            Some(message) => message.joined_text(),
            None => status.state.to_string(),
        },
        EventBody::Artifact(update) => {
            let artifact = &update.artifact;
            format!("artifact {}", artifact.name.as_deref().unwrap_or_else(|| artifact.artifact_id.as_str()))
        }
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(line.chars().take(MCP_PROGRESS_CHARS).collect())
}

fn refused(agent: &AgentName, error: KernelError) -> AgentError {
    match error {
        KernelError::UnknownAgent(agent) => AgentError::Unknown(agent),
        KernelError::TooDeep { limit } => AgentError::TooDeep { limit },
        error => AgentError::Refused { agent: agent.clone(), why: error.to_string() },
    }
}
