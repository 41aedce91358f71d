//! Agents asking agents: the principal stays, labels, hops and cancel travel along.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_runtime::agents::{AgentError, AgentReply, AgentSummary, AgentTask, Agents, ExternalMessage};
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Permit;
use openfang_types::agent::search::{AgentQuery, FoundAgent};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::principal::{Door, Principal};
use openfang_types::task::{Origin, Part, Task, TaskState};

use crate::tasks::log::Visibility;
use crate::tasks::{Incoming, Inner, Intake, Tasks};
use crate::{Caller, KernelError};

impl Agents for Inner {
    fn visible(&self, principal: &Principal) -> Vec<AgentSummary> {
        self.settings().visible_agents(principal)
    }

    fn found(&self, principal: &Principal, query: &AgentQuery) -> Vec<FoundAgent> {
        self.found_agents(principal, query)
    }

    fn send<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentError>> {
        Box::pin(async move { Tasks { inner: self }.send_from_agent(cx, agent, text).await })
    }

    fn ask_external<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        message: ExternalMessage<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>> {
        Box::pin(async move { Tasks { inner: self }.send_from_tool(cx, message, permit).await })
    }

    fn external_task<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        task: TaskId,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>> {
        Box::pin(async move { Tasks { inner: self }.task_for_tool(cx, agent, task).await })
    }

    fn signed_in_task<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        task: TaskId,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>> {
        Box::pin(async move { Tasks { inner: self }.signed_in_task_for_tool(cx, agent, task).await })
    }
}

impl Tasks {
    /// Asks an agent for another one: the principal stays, labels, hops and cancel travel along.
    async fn send_from_agent(
        &self,
        cx: &CallContext,
        agent: &AgentName,
        text: String,
    ) -> Result<AgentReply, AgentError> {
        let limit = cx.config.limits.agent_depth;
        if cx.hops >= limit {
            return Err(AgentError::TooDeep { limit });
        }
        let caller = Caller {
            principal: cx.principal.clone(),
            door: Door::Agent,
            trace: cx.trace,
            hops: cx.hops + 1,
            room: None,
        };
        let cancel = cx.cancel.child_token();
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: self.message(text),
            labels: cx.context_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            granted: None,
            cancel: cancel.clone(),
            visibility: Visibility::Unseen,
        };
        let refused = |error: KernelError| match error {
            KernelError::UnknownAgent(agent) => AgentError::Unknown(agent),
            KernelError::TooDeep { limit } => AgentError::TooDeep { limit },
            error => AgentError::Refused { agent: agent.clone(), why: error.to_string() },
        };
        // If whoever asked stops waiting, the work it asked for stops too.
        let stop_with_us = cancel.drop_guard();
        let settled = match self.take(incoming).await.map_err(refused)? {
            Intake::Answered(message) => {
                stop_with_us.disarm();
                let (text, labels) = (message.joined_text(), cx.context_labels());
                return Ok(AgentReply { text, state: TaskState::Completed, task: None, labels });
            }
            Intake::Known(id) => self.settled(&caller, id).await,
            Intake::Begun(work) => self.end_of_apart(&caller, work).await,
        };
        let settled = settled.map_err(refused)?;
        stop_with_us.disarm();
        Ok(AgentReply {
            text: answer_of(&settled.task),
            state: settled.task.status.state,
            task: Some(settled.task.id),
            labels: settled.labels,
        })
    }
}

/// What a task has to say, as one text: its artifacts, then its last message.
fn answer_of(task: &Task) -> String {
    let answer = task.artifacts.iter().filter(|artifact| !artifact.is_commentary());
    let artifacts = answer.flat_map(|artifact| &artifact.parts);
    let message = task.status.message.iter().flat_map(|message| &message.parts);
    let texts: Vec<&str> = artifacts.chain(message).filter_map(Part::as_text).collect();
    texts.join("\n")
}
