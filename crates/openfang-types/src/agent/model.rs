//! `[model]` and `[[fallback_models]]`: who answers for an agent, and how.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use crate::ids::{IdError, ModelName, ProviderName};

/// What answers for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Who answers: `direct`, `script`, `auto`, a provider such as `anthropic` or `ollama`, or a name under `[providers]` in
    /// `config.toml`.
    pub provider: Provider,
    /// With `provider = "script"`: the file with the rules, beside `agent.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The model, as the provider names it. `auto` chooses one itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// The instructions that stand before every conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// A file with the instructions, beside `agent.toml`, instead of `system_prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_file: Option<String>,
    /// The longest answer in tokens, reasoning included. If absent: 8192, or less if the model cannot answer so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How much chance there is in the choice of words, between 0 and 2. If absent: as the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// How much the model reasons before it answers: `off`, `low`, `medium`, `high`, or a number of tokens. If absent: as the
    /// provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningLevel>,
    /// The environment variable with the API key, instead of the provider's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The URL of the provider, instead of its usual one. The provider's usual API key is not sent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether the first answer of a turn must call a tool: `auto`, `required` or `none`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tool_choice: FirstToolChoice,
    /// Whether the reasoning of the model is shown while it works.
    #[serde(default, skip_serializing_if = "is_default")]
    pub show_thinking: bool,
    /// Tools that the provider runs itself. None can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosted_tools: Vec<String>,
}

/// A model that answers when those before it cannot, under `[[fallback_models]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FallbackModel {
    /// A provider such as `anthropic` or `ollama`, or a name under `[providers]` in `config.toml`.
    pub provider: Provider,
    /// The model, as the provider names it.
    pub model: ModelName,
    /// The environment variable with the API key, instead of the provider's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The URL of the provider, instead of its usual one. The provider's usual API key is not sent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl ModelConfig {
    /// This provider, with the default of every other key.
    pub const fn of(provider: Provider) -> Self {
        Self {
            provider,
            script: None,
            model: None,
            system_prompt: None,
            system_prompt_file: None,
            max_tokens: None,
            temperature: None,
            reasoning: None,
            api_key_env: None,
            base_url: None,
            tool_choice: FirstToolChoice::Auto,
            show_thinking: false,
            hosted_tools: Vec::new(),
        }
    }
}

/// Who answers for an agent.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum Provider {
    /// No model: messages name tools.
    Direct,
    /// No model: replies come from a file.
    Script,
    /// An A2A agent of another server answers. Such agents are in `config.toml`, not in `agent.toml`.
    External,
    /// The first provider that has an API key.
    Auto,
    /// A provider of models.
    Named(ProviderName),
}

impl Provider {
    /// Names that no provider of models may have.
    pub const RESERVED: [&str; 4] = ["direct", "script", "external", "auto"];

    /// The word in the manifest.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Direct => "direct",
            Self::Script => "script",
            Self::External => "external",
            Self::Auto => "auto",
            Self::Named(name) => name.as_str(),
        }
    }

    /// Whether a model answers.
    pub const fn has_model(&self) -> bool {
        match self {
            Self::Auto | Self::Named(_) => true,
            Self::Direct | Self::Script | Self::External => false,
        }
    }
}

impl std::str::FromStr for Provider {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Ok(match text {
            "direct" => Self::Direct,
            "script" => Self::Script,
            "auto" => Self::Auto,
            name => Self::Named(name.parse()?),
        })
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Provider {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A temperature between 0 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Temperature(f64);

// Only numbers between 0 and 2 are made, and each of them equals itself.
impl Eq for Temperature {}

impl Temperature {
    /// A temperature, if it is one.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=2.0).contains(&value).then_some(Self(value))
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(from)?;
        Self::new(value).ok_or_else(|| serde::de::Error::custom("must be a number between 0 and 2"))
    }
}

/// How much the model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "ReasoningSchema")]
pub enum ReasoningLevel {
    Off,
    Low,
    Medium,
    High,
    /// At most so many tokens.
    Tokens(u32),
}

/// The form of a [`ReasoningLevel`] in JSON.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only the schema of it is used")]
enum ReasoningSchema {
    Word(ReasoningWord),
    Tokens(u32),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only the schema of it is used")]
enum ReasoningWord {
    Off,
    Low,
    Medium,
    High,
}

impl ReasoningLevel {
    const WORDS: [(&str, Self); 4] =
        [("off", Self::Off), ("low", Self::Low), ("medium", Self::Medium), ("high", Self::High)];
}

impl Serialize for ReasoningLevel {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_str("off"),
            Self::Low => to.serialize_str("low"),
            Self::Medium => to.serialize_str("medium"),
            Self::High => to.serialize_str("high"),
            Self::Tokens(tokens) => to.serialize_u32(*tokens),
        }
    }
}

impl<'de> Deserialize<'de> for ReasoningLevel {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ReasoningVisitor)
    }
}

struct ReasoningVisitor;

impl serde::de::Visitor<'_> for ReasoningVisitor {
    type Value = ReasoningLevel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"off\", \"low\", \"medium\", \"high\" or a number of tokens")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ReasoningLevel, E> {
        let known = ReasoningLevel::WORDS.into_iter().find(|(word, _)| *word == text);
        known
            .map(|(_, level)| level)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_i64<E: serde::de::Error>(self, tokens: i64) -> Result<ReasoningLevel, E> {
        let tokens = u32::try_from(tokens).ok().filter(|tokens| *tokens > 0);
        tokens
            .map(ReasoningLevel::Tokens)
            .ok_or_else(|| E::custom("must be a number of tokens above 0; to switch reasoning off, write \"off\""))
    }

    fn visit_u64<E: serde::de::Error>(self, tokens: u64) -> Result<ReasoningLevel, E> {
        self.visit_i64(i64::try_from(tokens).unwrap_or(i64::MAX))
    }
}

/// Whether the first answer of a turn must call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FirstToolChoice {
    #[default]
    Auto,
    /// The first answer calls at least one tool.
    Required,
    /// No answer calls a tool.
    None,
}
