//! Models as commands need them that run without a server: which can be used here, and whether the agents of a home have their
//! keys. Nothing is asked and no secret is lent for the answer.

use openfang_model::Provider as KnownProvider;
use openfang_types::config::Config;
use openfang_types::ids::{AgentName, ModelName, ProviderName};

use crate::access::vault::stored_secrets;
use crate::boot::loaded_agents;
use crate::peers::models::keys::{KeyState, source_of};
use crate::peers::models::views::{split, table_models};
use crate::settings::home::Home;
use crate::settings::providers::{self, ModelChoice};

/// A model that has its key, and where the key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableModel {
    pub provider: ProviderName,
    pub model: ModelName,
    pub source: String,
}

/// A model of an agent whose key is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingKey {
    pub agent: AgentName,
    /// The provider and the model.
    pub reference: String,
    pub reason: String,
}

/// The first provider that has its key, with its default model.
pub fn first_usable_model(home: &Home, config: &Config) -> Option<UsableModel> {
    let stored = names_of_secrets(home);
    KnownProvider::ALL.into_iter().find_map(|known| {
        let provider: ProviderName = known.as_str().parse().ok()?;
        let model: ModelName = known.default_model()?.parse().ok()?;
        let choice = ModelChoice { provider: &provider, model: &model, api_key_env: None, base_url: None };
        let way = providers::way(config, choice).ok()?;
        match source_of(config, &way, &stored) {
            KeyState::Found(source) => Some(UsableModel { provider, model, source }),
            KeyState::NotNeeded | KeyState::Missing(_) => None,
        }
    })
}

/// The provider and the model of a reference, if the configuration has a way to it.
pub fn check_model(config: &Config, reference: &str) -> Result<(ProviderName, ModelName), String> {
    let (provider, model) = split(reference)?;
    let choice = ModelChoice { provider: &provider, model: &model, api_key_env: None, base_url: None };
    providers::way(config, choice).map_err(|problem| problem.why)?;
    Ok((provider, model))
}

/// Why the key of a model is missing, if it is.
pub fn missing_key(home: &Home, config: &Config, provider: &ProviderName, model: &ModelName) -> Option<String> {
    let choice = ModelChoice { provider, model, api_key_env: None, base_url: None };
    let way = providers::way(config, choice).ok()?;
    missing(source_of(config, &way, &names_of_secrets(home)))
}

/// The models of a home's agents whose keys are missing, and how many agents have a model.
pub fn missing_keys(home: &Home, config: &Config) -> (usize, Vec<MissingKey>) {
    let stored = names_of_secrets(home);
    let agents = loaded_agents(home, config);
    let with_model: Vec<_> = agents.iter().filter(|agent| agent.model.provider.has_model()).collect();
    let mut found = Vec::new();
    for agent in &with_model {
        for (_, choice) in providers::choices(agent) {
            let Ok(way) = providers::way(config, choice) else { continue };
            if let Some(reason) = missing(source_of(config, &way, &stored)) {
                let reference = format!("{}/{}", way.provider, way.model);
                found.push(MissingKey { agent: agent.name.clone(), reference, reason });
            }
        }
    }
    (with_model.len(), found)
}

/// The models of known providers, as PROVIDER/MODEL.
pub fn known_models() -> Vec<String> {
    let names = KnownProvider::ALL
        .into_iter()
        .filter_map(|known| known.as_str().parse::<ProviderName>().ok());
    names
        .flat_map(|name| table_models(&name).into_iter().map(move |model| format!("{name}/{model}")))
        .collect()
}

/// The variables in which keys usually are.
pub fn usual_key_variables() -> Vec<&'static str> {
    let mut names: Vec<&str> = KnownProvider::ALL.into_iter().flat_map(KnownProvider::key_variables).copied().collect();
    names.dedup();
    names
}

fn missing(state: KeyState) -> Option<String> {
    match state {
        KeyState::Missing(reason) => Some(reason),
        KeyState::NotNeeded | KeyState::Found(_) => None,
    }
}

fn names_of_secrets(home: &Home) -> Vec<String> {
    stored_secrets(home).unwrap_or_default().iter().map(ToString::to_string).collect()
}
