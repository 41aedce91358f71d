//! What tools need to know about the other agents. The kernel implements it, and every call brings it along.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::agent::search::{AgentQuery, FoundAgent};
use openfang_types::ids::{AgentName, ContextId, TaskId};
use openfang_types::principal::Principal;
use openfang_types::taint::Labels;
use openfang_types::task::{Part, Task, TaskState};

use crate::context::CallContext;
use crate::pipeline::Permit;

pub use openfang_types::agent::AgentSummary;

/// The agents of the house, as a caller may see them.
pub trait Agents: Send + Sync {
    /// The agents this principal may talk to, by name.
    fn visible(&self, principal: &Principal) -> Vec<AgentSummary>;
    /// Those of them that match a query, best first.
    fn found(&self, principal: &Principal, query: &AgentQuery) -> Vec<FoundAgent>;
    /// Sends a text and waits for the answer. Principal, labels, hops and cancel travel along.
    fn send<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentError>>;
    /// Sends a message to an external agent and waits until its task has ended or asks for something. Whoever was allowed to
    /// use the agent's tool may talk to the agent. Progress goes to the listener of the call.
    fn ask_external<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        message: ExternalMessage<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>>;
    /// A task of an external agent, as it stands.
    fn external_task<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        task: TaskId,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>>;
    /// A task of an external agent that waits for a sign-in, once the agent goes on and settles it, or the patience of the
    /// call is over.
    fn signed_in_task<'a>(
        self: Arc<Self>,
        cx: &'a CallContext,
        agent: &'a AgentName,
        task: TaskId,
    ) -> BoxFuture<'a, Result<AgentTask, AgentError>>;
}

/// A message to an external agent.
pub struct ExternalMessage<'a> {
    pub agent: &'a AgentName,
    pub parts: Vec<Part>,
    /// The task whose question it answers.
    pub task: Option<TaskId>,
    /// The conversation, by an id that we gave.
    pub context: Option<ContextId>,
}

/// A task of an agent, and what it carries.
#[derive(Debug, Clone)]
pub struct AgentTask {
    pub task: Task,
    pub labels: Labels,
}

/// What an agent answered.
#[derive(Debug, Clone)]
pub struct AgentReply {
    /// The text of its artifacts and last message.
    pub text: String,
    /// How the task stands.
    pub state: TaskState,
    /// The task, unless the agent answered without one.
    pub task: Option<TaskId>,
    /// What the answer carries.
    pub labels: Labels,
}

/// Why an agent could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// There is none, or the principal may not talk to it: the two look the same.
    #[error("there is no agent {0}; agent_list shows the agents you may talk to")]
    Unknown(AgentName),
    /// Agents called agents too often.
    #[error("agents may call agents {limit} deep, and this call would be one more; answer with what you have")]
    TooDeep {
        /// How deep they may go.
        limit: u8,
    },
    /// The caller has no such conversation with the agent.
    #[error("there is no conversation {0} with this agent; leave out `context` to begin one")]
    UnknownContext(ContextId),
    /// The agent could not take the message.
    #[error("agent {agent} did not take the message: {why}")]
    Refused { agent: AgentName, why: String },
}
