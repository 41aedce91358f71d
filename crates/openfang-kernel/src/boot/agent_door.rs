//! The way of the agent tools to the agents. It is made before the agents and opened when they are there.

use std::sync::{Arc, OnceLock, Weak};

use futures_util::future::BoxFuture;
use openfang_runtime::agents::{AgentError, AgentReply, AgentSummary, AgentTask, Agents, ExternalMessage};
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Permit;
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::principal::Principal;

use crate::tasks::delegate::Delegates;

/// The agents, for the tools that talk to them. The agents use these tools, so the door does not keep them alive.
#[derive(Default)]
pub(super) struct AgentDoor {
    agents: OnceLock<Weak<dyn Delegates>>,
}

impl AgentDoor {
    /// Leads to these agents from now on.
    pub(super) fn open(&self, agents: Weak<dyn Delegates>) {
        // A door is opened once, by whoever made it.
        let _ = self.agents.set(agents);
    }

    fn agents(&self) -> Option<Arc<dyn Delegates>> {
        self.agents.get()?.upgrade()
    }
}

impl Agents for AgentDoor {
    fn visible(&self, principal: &Principal) -> Vec<AgentSummary> {
        self.agents().map(|agents| agents.visible(principal)).unwrap_or_default()
    }

    fn send<'a>(
        &'a self,
        cx: &'a CallContext,
        agent: &'a AgentName,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentError>> {
        Box::pin(async move {
            let agents = self.agents().ok_or_else(|| AgentError::Unknown(agent.clone()))?;
            agents.send(cx, agent, text).await
        })
    }

    fn ask_external<'a>(
        &'a self,
        cx: &'a CallContext,
        message: ExternalMessage<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>> {
        Box::pin(async move {
            let agents = self.agents().ok_or_else(|| AgentError::Unknown(message.agent.clone()))?;
            agents.ask_external(cx, message, permit).await
        })
    }

    fn external_task<'a>(
        &'a self,
        cx: &'a CallContext,
        agent: &'a AgentName,
        task: TaskId,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>> {
        Box::pin(async move {
            let agents = self.agents().ok_or_else(|| AgentError::Unknown(agent.clone()))?;
            agents.external_task(cx, agent, task).await
        })
    }
}
