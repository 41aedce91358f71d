//! Another model than the agent's, chosen by a message. It costs money and sees the conversation, so only the operator chooses;
//! the limits of the agent hold for it too.

use std::sync::Arc;

use openfang_types::agent::{AgentManifest, ModelConfig, Provider};
use openfang_types::ids::ModelName;
use openfang_types::principal::PrincipalKind;
use openfang_types::task::{Message, Role};

use crate::{Caller, KernelError};

/// Refuses a choice that the caller may not make, or that names no model.
pub(super) fn check(caller: &Caller, agent: &AgentManifest, message: &Message) -> Result<(), KernelError> {
    let Some(chosen) = message.chosen_model() else { return Ok(()) };
    let refused = |why: String| Err(KernelError::InvalidMessage(why));
    match caller.principal.standing() {
        PrincipalKind::Admin(_) => {}
        PrincipalKind::Local | PrincipalKind::User(_) => {
            return refused("only the operator may choose another model than the agent's".to_owned());
        }
    }
    if !agent.model.provider.has_model() {
        return refused(format!("the agent {} has no model, so none can be chosen for it", agent.name));
    }
    match parsed(chosen) {
        Some(_) => Ok(()),
        None => refused(format!("{chosen:?} is not a model; write PROVIDER/MODEL, such as ollama/qwen3:8b")),
    }
}

/// The manifest of a turn: that of the agent, with the model that was chosen for the message. A message without words, such as a
/// decision on a call, goes on with the choice before it.
pub(super) fn manifest_of(agent: &Arc<AgentManifest>, history: &[Message], message: &Message) -> Arc<AgentManifest> {
    let has_words = |said: &&Message| said.parts.iter().any(|part| part.as_text().is_some());
    let mut said = std::iter::once(message).chain(history.iter().rev().filter(|said| said.role == Role::User));
    let chosen = said.find(has_words).and_then(Message::chosen_model).and_then(parsed);
    let Some((provider, model)) = chosen else { return Arc::clone(agent) };
    let model = ModelConfig {
        provider,
        model: Some(model),
        // They belong to the agent's own provider.
        api_key_env: None,
        base_url: None,
        ..agent.model.clone()
    };
    Arc::new(AgentManifest { model, fallback_models: Vec::new(), ..AgentManifest::clone(agent) })
}

fn parsed(chosen: &str) -> Option<(Provider, ModelName)> {
    let (provider, model) = chosen.split_once('/')?;
    let provider: Provider = provider.parse().ok()?;
    let is_named = matches!(provider, Provider::Named(_));
    Some((provider, model.parse().ok()?)).filter(|_| is_named)
}

#[cfg(test)]
#[path = "chosen_model_tests.rs"]
mod tests;
