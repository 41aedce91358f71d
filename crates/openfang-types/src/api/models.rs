//! Providers of models, models, and what they were used for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The providers of models, and the servers on this machine that could be one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    pub providers: Vec<ProviderView>,
    /// Servers on this machine that are not configured.
    pub local: Vec<LocalServer>,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderView {
    pub name: String,
    pub wire: String,
    pub base_url: String,
    pub key: KeyView,
    /// The models of a server without a key, as it lists them; else the ones that are known.
    pub models: Vec<String>,
    /// Why a server without a key does not list its models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whether a provider has its API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum KeyView {
    NotNeeded,
    /// Where the key is.
    Found {
        source: String,
    },
    /// Why there is no key.
    Missing {
        reason: String,
    },
}

/// A server on this machine that serves models and is not configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalServer {
    /// What it probably is.
    pub kind: String,
    pub base_url: String,
    pub models: Vec<String>,
}

/// A model, and what is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    /// The provider and the model.
    pub reference: String,
    pub wire: String,
    pub base_url: String,
    pub key: KeyView,
    /// The context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The longest answer in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceView>,
    pub images: bool,
    pub audio: bool,
    /// How the model is told how much to reason: `none`, `budget` or `effort`.
    pub reasoning: String,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceView {
    pub input: f64,
    pub output: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<f64>,
}

/// One short request to a model, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTest {
    pub reference: String,
    /// Until the first piece of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_millis: Option<u64>,
    pub millis: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What models were used for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    pub rows: Vec<UsageRow>,
    pub total: UsageRow,
}

/// The usage of an agent, of a model or of a day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    pub key: String,
    pub answers: u64,
    /// Questions to a person.
    pub questions: u64,
    /// Tokens of requests, cached ones included.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub cost_usd: f64,
    /// What is reserved for requests that have not ended, or whose process died.
    pub reserved_usd: f64,
}

/// What usage is summed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsageBy {
    #[default]
    Agent,
    Model,
    Day,
}

impl UsageBy {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Day => "day",
        }
    }
}
