//! How the models of agents are reached, as the configuration says. Nothing is read or sent here: a [`ModelWay`] says where the
//! key comes from, and whoever asks the model fetches it.

use std::path::PathBuf;

use openfang_egress::address::{Class, judge, judge_name};
use openfang_egress::url::{Guard, Origin};
use openfang_model::{
    Capabilities, Endpoint, ModelFacts, ModelTable, Price, Provider as KnownProvider, ReasoningStyle, WireKind,
};
use openfang_types::agent::{AgentManifest, Provider};
use openfang_types::config::{
    Config, ConfigProblem, ModelPrice, ModelSettings, ProviderConfig, ProviderWire, ReasoningOption,
};
use openfang_types::dollars::Dollars;
use openfang_types::ids::{ModelName, ProviderName};
use openfang_types::limits::{OLLAMA_ANSWER_TOKENS, OLLAMA_CONTEXT_TOKENS};
use openfang_types::nearest::nearest;

/// A model, as an agent or a command names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelChoice<'a> {
    pub(crate) provider: &'a ProviderName,
    pub(crate) model: &'a ModelName,
    /// The agent's own variable and URL.
    pub(crate) api_key_env: Option<&'a str>,
    pub(crate) base_url: Option<&'a str>,
}

/// The way to a model.
#[derive(Debug, Clone)]
pub(crate) struct ModelWay {
    pub(crate) provider: ProviderName,
    pub(crate) model: ModelName,
    /// The endpoint, which has no key yet.
    pub(crate) endpoint: Endpoint,
    pub(crate) key: KeySource,
}

/// Where an API key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// The provider gets none.
    None,
    /// The first of these environment variables that is set.
    Variables(Vec<String>),
    File(PathBuf),
    /// The `api_key` of the provider's entry, with references to variables and stored secrets.
    Entry,
}

/// Why there is no way to a model: the key that is wrong, below the table that names the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoWay {
    pub(crate) key: &'static str,
    pub(crate) why: String,
}

/// The choices of an agent, in order, each with the key of its table. An agent without a model and one that takes any model has none.
pub(crate) fn choices(agent: &AgentManifest) -> Vec<(String, ModelChoice<'_>)> {
    let model = &agent.model;
    let first = match (&model.provider, &model.model) {
        (Provider::Named(provider), Some(name)) => Some(ModelChoice {
            provider,
            model: name,
            api_key_env: model.api_key_env.as_deref(),
            base_url: model.base_url.as_deref(),
        }),
        (Provider::Named(_), None) => None,
        (Provider::Direct | Provider::Script | Provider::External | Provider::Auto, _) => None,
    };
    let first = first.map(|choice| ("model".to_owned(), choice));
    let others = agent
        .fallback_models
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| match &entry.provider {
            Provider::Named(provider) => {
                let choice = ModelChoice {
                    provider,
                    model: &entry.model,
                    api_key_env: entry.api_key_env.as_deref(),
                    base_url: entry.base_url.as_deref(),
                };
                Some((format!("fallback_models[{index}]"), choice))
            }
            Provider::Direct | Provider::Script | Provider::External | Provider::Auto => None,
        });
    first.into_iter().chain(others).collect()
}

/// The way to a model.
pub(crate) fn way(config: &Config, choice: ModelChoice<'_>) -> Result<ModelWay, NoWay> {
    let name = choice.provider;
    let known = KnownProvider::named(name.as_str());
    if let Some(why) = unknown_provider(config, name) {
        return Err(NoWay { key: "provider", why });
    }
    let entry = config.providers.get(name).cloned().unwrap_or_default();
    let missing = |key: &str| NoWay {
        key: "provider",
        why: format!("the provider {name} has no {key}; add it to [providers.{name}] in config.toml"),
    };
    let wire = entry
        .wire
        .map(wire_of)
        .or(known.map(KnownProvider::wire))
        .ok_or_else(|| missing("wire"))?;
    let usual = entry.base_url.as_deref().or(known.map(KnownProvider::base_url));
    let url = choice.base_url.or(usual).ok_or_else(|| missing("base_url"))?;
    let origin = origin(url).map_err(|why| NoWay { key: "base_url", why })?;
    let key = key_source(&entry, known, choice, &origin);
    if key != KeySource::None && !origin.is_https() && !is_near(&origin) {
        let why = format!(
            "the API key would be sent to {origin} unencrypted; use https, or an address of this machine or a private network"
        );
        return Err(NoWay { key: "base_url", why });
    }
    // Quirks belong to a provider's own wire.
    let usual = known.filter(|known| known.wire() == wire).map(Endpoint::of);
    let quirks = usual.map(|endpoint| endpoint.quirks).unwrap_or_default();
    let endpoint = Endpoint { quirks, ..Endpoint::at(wire, url) };
    Ok(ModelWay { provider: name.clone(), model: choice.model.clone(), endpoint, key })
}

/// A key belongs to the origin that it was given for. An agent that goes elsewhere needs a key of its own.
fn key_source(
    entry: &ProviderConfig,
    known: Option<KnownProvider>,
    choice: ModelChoice<'_>,
    target: &Origin,
) -> KeySource {
    if let Some(variable) = choice.api_key_env {
        return KeySource::Variables(vec![variable.to_owned()]);
    }
    let is_for = |url: Option<&str>| url.is_some_and(|url| origin(url).is_ok_and(|known| known == *target));
    let known_url = known.map(KnownProvider::base_url);
    if is_for(entry.base_url.as_deref().or(known_url)) {
        match (&entry.api_key_env, &entry.api_key_file, &entry.api_key) {
            (Some(variable), _, _) => return KeySource::Variables(vec![variable.clone()]),
            (None, Some(file), _) => return KeySource::File(file.clone()),
            (None, None, Some(_)) => return KeySource::Entry,
            (None, None, None) => {}
        }
    }
    match known.map(KnownProvider::key_variables) {
        Some(usual) if !usual.is_empty() && is_for(known_url) => {
            KeySource::Variables(usual.iter().map(|name| (*name).to_owned()).collect())
        }
        Some(_) | None => KeySource::None,
    }
}

/// The URL of a provider, if there is one.
pub(crate) fn url_of(config: &Config, name: &ProviderName) -> Option<String> {
    let known = KnownProvider::named(name.as_str()).map(|known| known.base_url().to_owned());
    config.providers.get(name).and_then(|entry| entry.base_url.clone()).or(known)
}

/// What is said about a name that is no provider's.
pub(crate) fn unknown_provider(config: &Config, name: &ProviderName) -> Option<String> {
    if KnownProvider::named(name.as_str()).is_some() || config.providers.contains_key(name) {
        return None;
    }
    let known = known_names(config);
    let words = ["direct", "script", "auto"];
    Some(match nearest(name.as_str(), known.iter().map(String::as_str).chain(words)) {
        Some(near) => format!("there is no provider {name}; did you mean {near}?"),
        None => format!(
            "there is no provider {name}; use {}, or add [providers.{name}] to config.toml",
            [words.as_slice(), &known.iter().map(String::as_str).collect::<Vec<_>>()]
                .concat()
                .join(", ")
        ),
    })
}

/// The names of all providers, those of the configuration included.
pub(crate) fn known_names(config: &Config) -> Vec<String> {
    let known = KnownProvider::ALL.into_iter().map(|provider| provider.as_str().to_owned());
    let mut names: Vec<String> = known.chain(config.providers.keys().map(ToString::to_string)).collect();
    names.sort();
    names.dedup();
    names
}

fn origin(url: &str) -> Result<Origin, String> {
    let checked = Guard::default().operator(url).map_err(|error| error.to_string())?;
    Ok(checked.origin())
}

/// Whether an origin is this machine or in a private network, as far as its address or name tells.
fn is_near(origin: &Origin) -> bool {
    let host = origin.host().trim_start_matches('[').trim_end_matches(']');
    let special = match host.parse() {
        Ok(address) => judge(address),
        Err(_) => judge_name(host),
    };
    special.is_some_and(|special| special.class == Class::Local)
}

const fn wire_of(wire: ProviderWire) -> WireKind {
    match wire {
        ProviderWire::Anthropic => WireKind::Anthropic,
        ProviderWire::Responses => WireKind::Responses,
        ProviderWire::Chat => WireKind::Chat,
        ProviderWire::Gemini => WireKind::Gemini,
        ProviderWire::Ollama => WireKind::Ollama,
    }
}

/// What is wrong with `[providers]` that needs the list of known providers.
pub(super) fn problems(config: &Config) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    #[expect(clippy::expect_used, reason = "a word of letters is the name of a model")]
    let model: ModelName = "model".parse().expect("a word of letters is the name of a model");
    for provider in config.providers.keys() {
        let choice = ModelChoice { provider, model: &model, api_key_env: None, base_url: None };
        if let Err(problem) = way(config, choice) {
            let key = format!("providers.{provider}");
            let (key, why) = match problem.key {
                "base_url" => (format!("{key}.base_url"), problem.why),
                _ => (key, problem.why),
            };
            problems.push(ConfigProblem { key, why });
        }
    }
    problems
}

/// What is known about a model: the configuration first, then the table.
pub(crate) fn facts(config: &Config, table: &ModelTable, way: &ModelWay) -> Option<ModelFacts> {
    let reference = format!("{}/{}", way.provider, way.model);
    let is_ollama = way.endpoint.wire == WireKind::Ollama;
    // Ollama allocates the window that a request asks for, and costs nothing.
    let free = Price { input: 0.0, output: 0.0, cached: None, cache_written: None };
    let usual = match is_ollama {
        true => Some(ModelFacts { window: OLLAMA_CONTEXT_TOKENS, max_output: OLLAMA_ANSWER_TOKENS, price: Some(free) }),
        false => table.get(&reference).copied(),
    };
    let Some(own) = settings_of(config, way) else { return usual };
    let price = own.price.map(price_of).or(usual.and_then(|usual| usual.price));
    let window = own.window.or(usual.map(|usual| usual.window));
    let max_output = own.max_output.or(usual.map(|usual| usual.max_output)).or(window);
    match (window, max_output) {
        (Some(window), Some(max_output)) => Some(ModelFacts { window, max_output: max_output.min(window), price }),
        // A price without a window: the window is found out when a request does not fit.
        (None, _) | (_, None) => price.map(|price| ModelFacts {
            window: u64::from(u32::MAX),
            max_output: u64::from(u32::MAX),
            price: Some(price),
        }),
    }
}

/// What a model can take: the configuration first, then its name.
pub(crate) fn capabilities(config: &Config, way: &ModelWay) -> Capabilities {
    let usual = Capabilities::of(way.model.as_str());
    let Some(own) = settings_of(config, way) else { return usual };
    let reasoning = own.reasoning.map_or(usual.reasoning, |style| match style {
        ReasoningOption::None => ReasoningStyle::None,
        ReasoningOption::Budget => ReasoningStyle::Budget,
        ReasoningOption::Effort => ReasoningStyle::Effort,
    });
    Capabilities {
        images: own.images.unwrap_or(usual.images),
        audio: own.audio.unwrap_or(usual.audio),
        temperature: own.temperature.unwrap_or(usual.temperature),
        reasoning,
        ..usual
    }
}

/// The entry of a model under `[models]`: by provider and model, or by the model alone.
fn settings_of<'c>(config: &'c Config, way: &ModelWay) -> Option<&'c ModelSettings> {
    let reference = format!("{}/{}", way.provider, way.model);
    let full = config.models.iter().find(|(name, _)| name.as_str() == reference);
    full.map(|(_, settings)| settings).or_else(|| config.models.get(&way.model))
}

fn price_of(price: ModelPrice) -> Price {
    Price {
        input: price.input.as_f64(),
        output: price.output.as_f64(),
        cached: price.cached.map(Dollars::as_f64),
        cache_written: price.cache_written.map(Dollars::as_f64),
    }
}

#[cfg(test)]
#[path = "providers_tests.rs"]
mod tests;
