//! `[providers.NAME]` and `[models."NAME"]`: how providers of models are reached, and what is known about models.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use super::mcp_servers::own_reference;
use super::secret_refs::secret_references;
use crate::agent::{Provider, base_url_problem, variable_problem};
use crate::dollars::Dollars;
use crate::ids::{ModelName, ProviderName};
use crate::limits::{CONFIGURED_MODELS_MAX, PROVIDERS_MAX};
use crate::secret::Secret;

/// A provider of models, under `[providers.NAME]`. A name such as `anthropic` changes how that provider is reached; any other
/// name adds a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderConfig {
    /// The protocol: `anthropic`, `responses`, `chat`, `gemini` or `ollama`. Known providers have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<ProviderWire>,
    /// The URL before the path of the protocol, such as `http://127.0.0.1:8080/v1`. Known providers have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the API key. Known providers have a usual one, which is sent to their usual URL only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// A file with the API key, which only its owner may read; a path relative to the config file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    /// The API key, as `${secret:NAME}` or `${VAR}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
}

impl ProviderConfig {
    /// The names of the stored secrets that the entry refers to.
    pub fn secrets(&self) -> BTreeSet<&str> {
        secret_references(self.api_key.iter().map(Secret::expose))
    }
}

/// The protocols that providers of models speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderWire {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Responses API of OpenAI.
    Responses,
    /// The Chat Completions API of OpenAI, which most other servers imitate.
    Chat,
    Gemini,
    /// The own protocol of Ollama.
    Ollama,
}

/// What is known about a model, under `[models."NAME"]`. It replaces what is known about the model without it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// The context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The longest answer in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Dollars for a million tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// Whether the model takes images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Whether the model takes audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
    /// Whether the model takes a temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<bool>,
    /// How the model is told how much to reason: `none`, `budget` (a number of tokens) or `effort` (a word).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningOption>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// The price of tokens in requests.
    pub input: Dollars,
    /// The price of tokens in answers.
    pub output: Dollars,
    /// The price of tokens that the provider had cached. If absent: as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Dollars>,
    /// The price of tokens that the provider caches. If absent: as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<Dollars>,
}

/// How a model is told how much to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningOption {
    None,
    Budget,
    Effort,
}

/// The problems of `[providers]` that the types cannot detect.
pub(super) fn problems(providers: &BTreeMap<ProviderName, ProviderConfig>) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    for (name, entry) in providers {
        let mut say = |key: &str, why: String| {
            let key = if key.is_empty() { format!("providers.{name}") } else { format!("providers.{name}.{key}") };
            problems.push(ConfigProblem { key, why });
        };
        if Provider::RESERVED.contains(&name.as_str()) {
            say("", format!("{name} is a word of its own in agent.toml; use another name"));
        }
        if let Some(why) = entry.base_url.as_deref().and_then(base_url_problem) {
            say("base_url", why);
        }
        if let Some(why) = entry.api_key_env.as_deref().and_then(variable_problem) {
            say("api_key_env", why);
        }
        let keys = [entry.api_key_env.is_some(), entry.api_key_file.is_some(), entry.api_key.is_some()];
        if keys.into_iter().filter(|is_set| *is_set).count() > 1 {
            say("", "api_key_env, api_key_file and api_key exclude each other; keep one of them".to_owned());
        }
        if let Some(key) = &entry.api_key {
            if key.expose().trim().is_empty() {
                say("api_key", "is empty; leave it out for a provider that wants none".to_owned());
            }
            if let Some(variable) = key.expose().split("${").skip(1).find_map(own_reference) {
                say("api_key", format!("{variable} is a variable of OpenFang itself, which no provider may have"));
            }
        }
    }
    if providers.len() > PROVIDERS_MAX {
        let why = format!("there are more than {PROVIDERS_MAX} providers");
        problems.push(ConfigProblem { key: "providers".to_owned(), why });
    }
    problems
}

/// The problems of `[models]` that the types cannot detect.
pub(super) fn model_problems(models: &BTreeMap<ModelName, ModelSettings>) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    for (name, entry) in models {
        // A name with dots is written in quotes, and the place of the fault is found by the section.
        let mut say = |key: &str, why: &str| {
            problems.push(ConfigProblem { key: "models".to_owned(), why: format!("{name}: {key} {why}") });
        };
        for (key, tokens) in [("window", entry.window), ("max_output", entry.max_output)] {
            match tokens {
                Some(0) => say(key, "must be at least 1"),
                Some(tokens) if tokens > u64::from(u32::MAX) => say(key, "is too large"),
                Some(_) | None => {}
            }
        }
        if let (Some(window), Some(output)) = (entry.window, entry.max_output)
            && output > window
        {
            say("max_output", "cannot be larger than window");
        }
    }
    if models.len() > CONFIGURED_MODELS_MAX {
        let why = format!("there are more than {CONFIGURED_MODELS_MAX} models");
        problems.push(ConfigProblem { key: "models".to_owned(), why });
    }
    problems
}

#[cfg(test)]
#[path = "providers_tests.rs"]
mod tests;
