//! The models that answer for agents, as an agent's run sees them. The kernel implements [`ModelSource`]; it knows the
//! configuration and the keys.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_model::{Capabilities, ModelClient, ModelFacts, OutputSchema};
use openfang_store::UsageStore;
use openfang_types::agent::AgentManifest;
use openfang_types::taint::Labels;

use crate::context::CallContext;

/// A model that can be asked.
#[derive(Clone)]
pub struct ModelTarget {
    /// The provider and the model, as `anthropic/claude-sonnet-4-6`. Prices, usage and messages go by it.
    pub reference: String,
    /// The model's name at its provider.
    pub model: String,
    pub client: ModelClient,
    pub capabilities: Capabilities,
    /// The window and the price, as far as they are known.
    pub facts: Option<ModelFacts>,
    /// What provides the key, such as `ANTHROPIC_API_KEY`, for messages about a key that is refused. Models with the same
    /// source have the same key.
    pub key_source: Option<String>,
}

/// Resolves agents to the models that may answer for them.
pub trait ModelSource: Send + Sync {
    /// The models that may answer, in order: the first one, then the fallbacks. One that cannot be used is left out, unless
    /// none is left.
    fn chain<'a>(&'a self, agent: &'a AgentManifest) -> BoxFuture<'a, Result<Vec<Arc<ModelTarget>>, ModelUnavailable>>;

    /// What the workspace of a run says to its agent, and what that carries.
    fn instructions<'a>(&'a self, _: &'a CallContext) -> BoxFuture<'a, Option<(String, Labels)>> {
        Box::pin(async { None })
    }

    /// Where the usage of models is recorded, and budgets are kept. None: nowhere.
    fn usage(&self) -> Option<Arc<dyn UsageStore>> {
        None
    }
}

/// An agent that a model answers for, with the files that its manifest names.
#[derive(Clone)]
pub struct ModelAgent {
    /// The instructions, or an empty text.
    pub system_prompt: Arc<str>,
    /// The shape of the answers, if `[output]` names a schema.
    pub output: Option<OutputSchema>,
}

/// Why no model can be asked. A task fails with it; a start never does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelUnavailable {
    /// The provider wants a key and none is there.
    #[error(
        "there is no API key for {reference}; set the variable {variable} where the server is started, or store the key with \
         `openfang secret set {variable}` and write api_key = \"${{secret:{variable}}}\" under [providers.{provider}] in config.toml"
    )]
    NoKey { reference: String, provider: String, variable: String },
    /// With `provider = "auto"`: no provider has a key, and no Ollama answers.
    #[error(
        "no model can be used: none of {variables} is set, and no Ollama answers at {ollama}; set one of the variables where the \
         server is started, or start Ollama and download a model"
    )]
    NothingFound { variables: String, ollama: String },
    /// The configuration does not know the provider any more.
    #[error("there is no provider {provider}; add [providers.{provider}] to config.toml, or use {known}")]
    UnknownProvider { provider: String, known: String },
    /// The key or the URL cannot be used.
    #[error("{reference} cannot be used: {reason}")]
    Unusable { reference: String, reason: String },
}
