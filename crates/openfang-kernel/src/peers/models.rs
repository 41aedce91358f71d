//! The models of providers: each agent resolved to the models that may answer for it, with their keys.
//!
//! Nothing is asked before a run begins: a start does not depend on a provider. A run keeps the models that it began with; the
//! next run has those of the configuration in force by then.

use std::sync::{Arc, OnceLock, Weak};

use futures_util::future::BoxFuture;
use openfang_model::{Endpoint, ModelClient, ModelTable, Provider as KnownProvider};
use openfang_runtime::context::CallContext;
use openfang_runtime::files::Files;
use openfang_runtime::models::{ModelSource, ModelTarget, ModelUnavailable};
use openfang_runtime::pipeline::Pipeline;
use openfang_store::UsageStore;
use openfang_types::agent::{AgentManifest, Provider};
use openfang_types::config::Config;
use openfang_types::ids::{ModelName, ProviderName};
use openfang_types::taint::Labels;

use self::keys::ApiKey;
use super::lending::Lending;
use crate::settings::providers::{self, KeySource, ModelChoice, ModelWay};
use crate::settings::{LiveSettings, Settings};

pub(crate) mod keys;
mod probe;
pub(crate) mod views;

/// What models are reached with. The agents in force lead back to them: owning the settings would keep everything open for ever.
pub(crate) struct ModelReach {
    settings: Weak<LiveSettings>,
    pipeline: Weak<Pipeline>,
    /// The stored secrets that the entries of providers name.
    lending: Arc<Lending>,
    usage: Arc<dyn UsageStore>,
    /// The files of workspaces, which may have instructions for agents.
    files: Files,
}

impl ModelReach {
    pub(crate) fn new(
        settings: &Arc<LiveSettings>,
        pipeline: &Arc<Pipeline>,
        (lending, usage, files): (Arc<Lending>, Arc<dyn UsageStore>, Files),
    ) -> Self {
        Self { settings: Arc::downgrade(settings), pipeline: Arc::downgrade(pipeline), lending, usage, files }
    }
}

/// The way to models.
#[derive(Default)]
pub(crate) struct Models {
    /// Set once the rest of the kernel is there.
    reach: OnceLock<ModelReach>,
}

impl Models {
    pub(crate) fn open(&self, reach: ModelReach) {
        // The kernel is put together once.
        let _ = self.reach.set(reach);
    }

    /// The settings in force, and the way to the rest.
    fn reach(&self) -> Result<(&ModelReach, Arc<Settings>), ModelUnavailable> {
        let stopping = || ModelUnavailable::Unusable {
            reference: "the model".to_owned(),
            reason: "the server is stopping".to_owned(),
        };
        let reach = self.reach.get().ok_or_else(stopping)?;
        let settings = reach.settings.upgrade().ok_or_else(stopping)?;
        Ok((reach, settings.current()))
    }

    /// The models of an agent, in order, each with the reason if it cannot be used.
    async fn resolve(&self, agent: &AgentManifest) -> Vec<Result<Arc<ModelTarget>, ModelUnavailable>> {
        let (reach, settings) = match self.reach() {
            Ok(found) => found,
            Err(error) => return vec![Err(error)],
        };
        let mut models = Vec::new();
        if agent.model.provider == Provider::Auto {
            models.push(self.first_with_key(reach, &settings).await);
        }
        for (_, choice) in providers::choices(agent) {
            models.push(self.target(reach, &settings, choice).await);
        }
        models.into_iter().map(|found| found.map(Arc::new)).collect()
    }

    /// A model, ready to be asked.
    async fn target(
        &self,
        reach: &ModelReach,
        settings: &Settings,
        choice: ModelChoice<'_>,
    ) -> Result<ModelTarget, ModelUnavailable> {
        let config = settings.config();
        let way = way(config, choice)?;
        let key = self.key(reach, settings, &way).await?;
        target_of(config, settings, way, key)
    }

    /// The key of a way. What it is must not travel from now on.
    async fn key(&self, reach: &ModelReach, settings: &Settings, way: &ModelWay) -> Result<ApiKey, ModelUnavailable> {
        let key = keys::fetch(&reach.lending, settings, way).await?;
        if let (Some(value), Some(pipeline)) = (&key.value, reach.pipeline.upgrade()) {
            pipeline.add_sensitive(value);
        }
        Ok(key)
    }

    /// With `provider = "auto"`: the first provider with a key, else the first model of an Ollama on this machine.
    async fn first_with_key(&self, reach: &ModelReach, settings: &Settings) -> Result<ModelTarget, ModelUnavailable> {
        let config = settings.config();
        let mut variables: Vec<&str> = Vec::new();
        for known in KnownProvider::ALL {
            let Some((provider, model)) = default_of(known) else { continue };
            let choice = ModelChoice { provider: &provider, model: &model, api_key_env: None, base_url: None };
            let Ok(way) = way(config, choice) else { continue };
            variables.extend(known.key_variables().first().filter(|name| !variables.contains(name)).copied());
            if way.key == KeySource::None {
                continue;
            }
            if let Ok(key) = self.key(reach, settings, &way).await {
                return target_of(config, settings, way, key);
            }
        }
        let ollama: Option<ProviderName> = KnownProvider::Ollama.as_str().parse().ok();
        let endpoint = ollama
            .and_then(|name| config.providers.get(&name)?.base_url.clone())
            .unwrap_or_else(|| KnownProvider::Ollama.base_url().to_owned());
        let found = probe::ollama(settings.http(), &Endpoint::at(KnownProvider::Ollama.wire(), &endpoint)).await;
        let model = found
            .ok()
            .and_then(|models| models.into_iter().find_map(|model| model.parse::<ModelName>().ok()));
        let (Ok(provider), Some(model)) = (KnownProvider::Ollama.as_str().parse(), model) else {
            return Err(ModelUnavailable::NothingFound { variables: variables.join(", "), ollama: endpoint });
        };
        let choice = ModelChoice { provider: &provider, model: &model, api_key_env: None, base_url: None };
        self.target(reach, settings, choice).await
    }
}

impl ModelSource for Models {
    fn usage(&self) -> Option<Arc<dyn UsageStore>> {
        self.reach.get().map(|reach| Arc::clone(&reach.usage))
    }

    fn instructions<'a>(&'a self, cx: &'a CallContext) -> BoxFuture<'a, Option<(String, Labels)>> {
        Box::pin(async move { self.reach.get()?.files.instructions(cx).await })
    }

    fn chain<'a>(&'a self, agent: &'a AgentManifest) -> BoxFuture<'a, Result<Vec<Arc<ModelTarget>>, ModelUnavailable>> {
        Box::pin(async move {
            let (mut usable, mut first) = (Vec::new(), None);
            for found in self.resolve(agent).await {
                match found {
                    Ok(target) => usable.push(target),
                    Err(error) => {
                        tracing::warn!(agent = %agent.name, %error, "a model of the agent cannot be used");
                        first.get_or_insert(error);
                    }
                }
            }
            match first {
                Some(error) if usable.is_empty() => Err(error),
                Some(_) | None => Ok(usable),
            }
        })
    }
}

/// The default model of a provider, if it has one.
fn default_of(known: KnownProvider) -> Option<(ProviderName, ModelName)> {
    Some((known.as_str().parse().ok()?, known.default_model()?.parse().ok()?))
}

fn way(config: &Config, choice: ModelChoice<'_>) -> Result<ModelWay, ModelUnavailable> {
    providers::way(config, choice).map_err(|problem| ModelUnavailable::Unusable {
        reference: format!("{}/{}", choice.provider, choice.model),
        reason: problem.why,
    })
}

fn target_of(
    config: &Config,
    settings: &Settings,
    way: ModelWay,
    key: ApiKey,
) -> Result<ModelTarget, ModelUnavailable> {
    let reference = format!("{}/{}", way.provider, way.model);
    let facts = providers::facts(config, ModelTable::builtin(), &way);
    let capabilities = providers::capabilities(config, &way);
    let endpoint = match key.value {
        Some(value) => way.endpoint.key(value),
        None => way.endpoint,
    };
    let client = ModelClient::new(settings.http().clone(), endpoint)
        .map_err(|error| ModelUnavailable::Unusable { reference: reference.clone(), reason: error.to_string() })?;
    Ok(ModelTarget { reference, model: way.model.to_string(), client, capabilities, facts, key_source: key.source })
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
