//! Providers and models as they are shown: how each is reached, whether its key is there, what is known about it. A key itself is
//! never part of it.

use std::time::Instant;

use openfang_model::{
    Capabilities, Delta, Endpoint, Item, ModelFacts, ModelRequest, ModelTable, Provider as KnownProvider,
    ReasoningStyle, RequestOptions, WireKind,
};
use openfang_runtime::models::{ModelTarget, ModelUnavailable};
use openfang_types::api::{KeyView, LocalServer, ModelList, ModelTest, ModelView, PriceView, ProviderView};
use openfang_types::config::Config;
use openfang_types::ids::{ModelName, ProviderName};
use openfang_types::limits::MODEL_TEST_TOKENS;

use super::keys::{KeyState, source_of};
use super::{Models, probe};
use crate::KernelError;
use crate::settings::Settings;
use crate::settings::providers::{self, KeySource, ModelChoice, ModelWay};

/// Servers that people run on their own machine, and where.
const LOCAL_SERVERS: [(&str, &str); 2] =
    [("LM Studio", "http://127.0.0.1:1234/v1"), ("llama.cpp", "http://127.0.0.1:8080/v1")];

impl Models {
    /// All providers. Servers without a key are asked for their models.
    pub(crate) async fn list(&self, settings: &Settings, stored: &[String]) -> ModelList {
        let config = settings.config();
        let names = providers::known_names(config);
        let views = names
            .iter()
            .filter_map(|name| name.parse().ok())
            .map(|name| provider(settings, name, stored));
        let local = LOCAL_SERVERS.into_iter().map(|(kind, url)| local(settings, kind, url));
        let (providers, local) =
            tokio::join!(futures_util::future::join_all(views), futures_util::future::join_all(local));
        ModelList { providers: providers.into_iter().flatten().collect(), local: local.into_iter().flatten().collect() }
    }

    /// What is known about a model.
    pub(crate) fn show(config: &Config, reference: &str, stored: &[String]) -> Result<ModelView, KernelError> {
        let way = way_to(config, reference)?;
        Ok(view(config, &way, stored))
    }

    /// Asks a model for one short answer. Without a name: the model that `provider = "auto"` takes.
    pub(crate) async fn test(&self, reference: Option<&str>) -> Result<ModelTest, KernelError> {
        let unusable = |error: ModelUnavailable| KernelError::ModelFailed(error.to_string());
        let (reach, settings) = self.reach().map_err(unusable)?;
        let target = match reference {
            None => self.first_with_key(reach, &settings).await.map_err(unusable)?,
            Some(reference) => {
                let way = way_to(settings.config(), reference)?;
                let (provider, model) = (&way.provider, &way.model);
                let choice = ModelChoice { provider, model, api_key_env: None, base_url: None };
                self.target(reach, &settings, choice).await.map_err(unusable)?
            }
        };
        ask(&target).await
    }
}

async fn provider(settings: &Settings, name: ProviderName, stored: &[String]) -> Option<ProviderView> {
    let config = settings.config();
    let way = way_of(config, &name).ok()?;
    let key = key_view(source_of(config, &way, stored));
    let (models, problem) = match way.key {
        KeySource::None => match probe::models(settings.http(), &way.endpoint).await {
            Ok(models) => (models, None),
            Err(why) => (Vec::new(), Some(why)),
        },
        KeySource::Variables(_) | KeySource::File(_) | KeySource::Entry => (table_models(&name), None),
    };
    Some(ProviderView {
        name: name.to_string(),
        wire: way.endpoint.wire.to_string(),
        base_url: way.endpoint.base_url,
        key,
        models,
        problem,
    })
}

/// The way to a provider, whichever of its models is meant.
fn way_of(config: &Config, name: &ProviderName) -> Result<ModelWay, providers::NoWay> {
    let any = KnownProvider::named(name.as_str())
        .and_then(KnownProvider::default_model)
        .unwrap_or("model");
    let model: Result<ModelName, _> = any.parse();
    let model = model.map_err(|error| providers::NoWay { key: "model", why: format!("{error}") })?;
    providers::way(config, ModelChoice { provider: name, model: &model, api_key_env: None, base_url: None })
}

/// The models of a provider that the table has, its default first.
pub(crate) fn table_models(name: &ProviderName) -> Vec<String> {
    let own = format!("{name}/");
    let vendor = match KnownProvider::named(name.as_str()) {
        Some(KnownProvider::Anthropic) => &["claude-"][..],
        Some(KnownProvider::OpenAi | KnownProvider::OpenAiChat) => &["gpt-", "o1", "o3", "o4"],
        Some(KnownProvider::Gemini) => &["gemini-"],
        Some(
            KnownProvider::OpenRouter
            | KnownProvider::Groq
            | KnownProvider::Mistral
            | KnownProvider::DeepSeek
            | KnownProvider::Xai
            | KnownProvider::Ollama,
        )
        | None => &[],
    };
    let rows = ModelTable::builtin().rows().filter_map(|(model, _)| {
        let is_vendors = vendor.iter().any(|prefix| model.starts_with(prefix));
        model.strip_prefix(&own).or_else(|| is_vendors.then_some(model))
    });
    let default = KnownProvider::named(name.as_str()).and_then(KnownProvider::default_model);
    let others = rows.filter(|model| Some(*model) != default);
    default.into_iter().chain(others).map(str::to_owned).collect()
}

/// A server on this machine that no provider of the configuration names.
async fn local(settings: &Settings, kind: &str, url: &str) -> Option<LocalServer> {
    let is_configured = settings
        .config()
        .providers
        .values()
        .any(|entry| entry.base_url.as_deref().is_some_and(|known| known.trim_end_matches('/') == url));
    if is_configured {
        return None;
    }
    let models = probe::models(settings.http(), &Endpoint::at(WireKind::Chat, url)).await.ok()?;
    Some(LocalServer { kind: kind.to_owned(), base_url: url.to_owned(), models })
}

fn way_to(config: &Config, reference: &str) -> Result<ModelWay, KernelError> {
    let unknown = |why: String| KernelError::UnknownModel(why);
    let (provider, model) = split(reference).map_err(unknown)?;
    let choice = ModelChoice { provider: &provider, model: &model, api_key_env: None, base_url: None };
    providers::way(config, choice).map_err(|problem| KernelError::UnknownModel(problem.why))
}

/// The provider and the model of a reference.
pub(crate) fn split(reference: &str) -> Result<(ProviderName, ModelName), String> {
    let parts = reference.split_once('/');
    let parsed = parts.and_then(|(provider, model)| Some((provider.parse().ok()?, model.parse().ok()?)));
    parsed.ok_or_else(|| {
        let shown: String = reference.chars().take(100).collect();
        format!(
            "{shown:?} is not a model; write PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5 or ollama/qwen3:8b"
        )
    })
}

fn view(config: &Config, way: &ModelWay, stored: &[String]) -> ModelView {
    let facts = providers::facts(config, ModelTable::builtin(), way);
    let Capabilities { images, audio, reasoning, .. } = providers::capabilities(config, way);
    let known =
        |tokens: fn(&ModelFacts) -> u64| facts.as_ref().map(tokens).filter(|tokens| *tokens < u64::from(u32::MAX));
    ModelView {
        reference: format!("{}/{}", way.provider, way.model),
        wire: way.endpoint.wire.to_string(),
        base_url: way.endpoint.base_url.clone(),
        key: key_view(source_of(config, way, stored)),
        window: known(|facts| facts.window),
        max_output: known(|facts| facts.max_output),
        price: facts.and_then(|facts| facts.price).map(|price| PriceView {
            input: price.input,
            output: price.output,
            cached: price.cached,
            cache_written: price.cache_written,
        }),
        images,
        audio,
        reasoning: match reasoning {
            ReasoningStyle::None => "none",
            ReasoningStyle::Budget => "budget",
            ReasoningStyle::Effort => "effort",
        }
        .to_owned(),
    }
}

fn key_view(state: KeyState) -> KeyView {
    match state {
        KeyState::NotNeeded => KeyView::NotNeeded,
        KeyState::Found(source) => KeyView::Found { source },
        KeyState::Missing(reason) => KeyView::Missing { reason },
    }
}

async fn ask(target: &ModelTarget) -> Result<ModelTest, KernelError> {
    let mut request = ModelRequest::new(&target.model, vec![Item::user("Say ok.").into()]);
    request.capabilities = target.capabilities;
    request.options = RequestOptions {
        max_tokens: MODEL_TEST_TOKENS,
        context_tokens: target.facts.and_then(|facts| u32::try_from(facts.window).ok()),
        ..RequestOptions::default()
    };
    let begun = Instant::now();
    let mut first = None;
    let mut told = |_: Delta<'_>| {
        first.get_or_insert_with(|| begun.elapsed());
    };
    let answer = target.client.answer(&request, &mut told).await;
    let answer = answer.map_err(|error| {
        let source = target.key_source.as_ref().map(|source| format!(" (the key is from {source})"));
        KernelError::ModelFailed(format!("{}: {error}{}", target.reference, source.unwrap_or_default()))
    })?;
    let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let price = target.facts.and_then(|facts| facts.price);
    Ok(ModelTest {
        reference: target.reference.clone(),
        first_millis: first.map(millis),
        millis: millis(begun.elapsed()),
        input_tokens: answer.usage.input,
        output_tokens: answer.usage.output,
        cost_usd: price.map(|price| price.of(&answer.usage).dollars()),
    })
}
