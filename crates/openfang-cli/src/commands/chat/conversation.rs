//! The conversation of a chat: with whom, where it stands, and what it has taken so far.

use openfang_types::api::AgentView;
use openfang_types::ids::ContextId;
use openfang_types::task::{Part, Task, TurnUsage};

use crate::backend::{Backend, Outgoing};
use crate::error::CliError;
use crate::session::Session;

/// A conversation with an agent.
pub(super) struct Chat<'a> {
    pub(super) session: &'a Session,
    pub(super) backend: Backend,
    pub(super) agent: AgentView,
    /// The conversation, once there is one.
    pub(super) context: Option<ContextId>,
    /// The task of the last message, as far as it is known.
    pub(super) task: Option<Task>,
    /// The model that was chosen for this chat.
    pub(super) model: Option<String>,
    pub(super) totals: ChatTotals,
}

/// What a chat took of models.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct ChatTotals {
    pub(super) turns: u32,
    pub(super) steps: u32,
    pub(super) input_tokens: u64,
    pub(super) cached_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: f64,
    /// Whether a turn has no known price.
    pub(super) is_partial: bool,
}

impl ChatTotals {
    pub(super) fn add(&mut self, turn: &TurnUsage) {
        self.turns += 1;
        self.steps = self.steps.saturating_add(turn.steps);
        self.input_tokens = self.input_tokens.saturating_add(turn.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(turn.cached_tokens.unwrap_or_default());
        self.output_tokens = self.output_tokens.saturating_add(turn.output_tokens);
        self.cost_usd += turn.cost_usd.unwrap_or_default();
        self.is_partial |= turn.cost_usd.is_none();
    }
}

impl<'a> Chat<'a> {
    pub(super) fn new(session: &'a Session, backend: Backend, agent: AgentView, model: Option<String>) -> Self {
        Self { session, backend, agent, context: None, task: None, model, totals: ChatTotals::default() }
    }

    pub(super) fn has_model(&self) -> bool {
        self.agent.agent.model.provider.has_model()
    }

    /// The model that answers, as far as it is known here.
    pub(super) fn model_name(&self) -> Option<String> {
        if !self.has_model() {
            return None;
        }
        let model = &self.agent.agent.model;
        let own = || match &model.model {
            Some(name) => format!("{}/{name}", model.provider),
            None => model.provider.to_string(),
        };
        Some(self.model.clone().unwrap_or_else(own))
    }

    /// A message of this conversation. It continues the last task if that waits for its owner.
    pub(super) fn message(&self, parts: Vec<Part>) -> Outgoing {
        let waiting = self.task.as_ref().filter(|task| task.status.state.is_interrupted());
        Outgoing {
            agent: self.agent.agent.name.clone(),
            parts,
            task: waiting.map(|task| task.id),
            context: self.context.clone(),
            model: self.model.clone(),
        }
    }

    /// Begins a new conversation. Gives the one before.
    pub(super) fn clear(&mut self) -> Option<ContextId> {
        self.task = None;
        self.context.take()
    }
}

/// Refuses a model for an agent without one.
pub(super) fn check_model(agent: &AgentView, model: &str) -> Result<(), CliError> {
    let name = &agent.agent.name;
    if !agent.agent.model.provider.has_model() {
        return Err(CliError::Usage(format!("the agent {name} has no model, so {model} cannot answer for it")));
    }
    if !model.contains('/') {
        return Err(CliError::Usage(format!(
            "{model:?} is not a model; write PROVIDER/MODEL, such as ollama/qwen3:8b"
        )));
    }
    Ok(())
}
