//! Where a provider is, and how it differs from others that speak the same wire.

use std::time::Duration;

use openfang_types::limits::{MODEL_FIRST_BYTE, MODEL_FIRST_BYTE_LOCAL};
use openfang_types::secret::Secret;

use crate::wire::WireKind;

/// How to reach a provider.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub wire: WireKind,
    /// The URL before the path of the wire, without a slash at its end.
    pub base_url: String,
    /// The key, if the provider wants one. It is sent to the origin of the base URL only.
    pub key: Option<Secret>,
    pub quirks: Quirks,
    /// How long the provider may take until its answer begins.
    pub first_byte: Duration,
}

/// How a server differs from the documented wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// The longest answer is called `max_completion_tokens`, as OpenAI's newer models demand, instead of `max_tokens`.
    pub max_completion_tokens: bool,
    /// Ids of calls must have nine letters or digits.
    pub short_call_ids: bool,
}

/// The providers that are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    Anthropic,
    /// OpenAI by its Responses wire.
    OpenAi,
    /// OpenAI by its Chat wire.
    OpenAiChat,
    Gemini,
    OpenRouter,
    Groq,
    Mistral,
    DeepSeek,
    Xai,
    Ollama,
}

impl Provider {
    /// All of them, in the order in which `auto` looks for a key.
    pub const ALL: [Self; 10] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiChat,
        Self::Gemini,
        Self::OpenRouter,
        Self::Groq,
        Self::Mistral,
        Self::DeepSeek,
        Self::Xai,
        Self::Ollama,
    ];

    /// The name in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::OpenRouter => "openrouter",
            Self::Groq => "groq",
            Self::Mistral => "mistral",
            Self::DeepSeek => "deepseek",
            Self::Xai => "xai",
            Self::Ollama => "ollama",
        }
    }

    /// The provider of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    pub const fn wire(self) -> WireKind {
        match self {
            Self::Anthropic => WireKind::Anthropic,
            Self::OpenAi => WireKind::Responses,
            Self::Gemini => WireKind::Gemini,
            Self::Ollama => WireKind::Ollama,
            Self::OpenAiChat | Self::OpenRouter | Self::Groq | Self::Mistral | Self::DeepSeek | Self::Xai => {
                WireKind::Chat
            }
        }
    }

    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi | Self::OpenAiChat => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::OpenRouter => "https://openrouter.ai/api/v1",
            Self::Groq => "https://api.groq.com/openai/v1",
            Self::Mistral => "https://api.mistral.ai/v1",
            Self::DeepSeek => "https://api.deepseek.com",
            Self::Xai => "https://api.x.ai/v1",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The model that is used where only the provider is chosen. None for a provider whose models depend on the machine.
    pub const fn default_model(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("claude-sonnet-5-5"),
            Self::OpenAi | Self::OpenAiChat => Some("gpt-5.6"),
            Self::Gemini => Some("gemini-3.8-flash"),
            Self::OpenRouter => Some("openrouter/auto"),
            Self::Groq => Some("openai/gpt-oss-120b"),
            Self::Mistral => Some("mistral-medium-latest"),
            Self::DeepSeek => Some("deepseek-flash"),
            Self::Xai => Some("grok-4.7"),
            Self::Ollama => None,
        }
    }

    /// The environment variables in which the key usually is, the first one first.
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::OpenAi | Self::OpenAiChat => &["OPENAI_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::OpenRouter => &["OPENROUTER_API_KEY"],
            Self::Groq => &["GROQ_API_KEY"],
            Self::Mistral => &["MISTRAL_API_KEY"],
            Self::DeepSeek => &["DEEPSEEK_API_KEY"],
            Self::Xai => &["XAI_API_KEY"],
            Self::Ollama => &[],
        }
    }
}

impl Endpoint {
    /// The public endpoint of a provider, without a key.
    pub fn of(provider: Provider) -> Self {
        let quirks = Quirks {
            max_completion_tokens: provider == Provider::OpenAiChat,
            short_call_ids: provider == Provider::Mistral,
        };
        Self { quirks, ..Self::at(provider.wire(), provider.base_url()) }
    }

    /// Any server that speaks a wire.
    pub fn at(wire: WireKind, base_url: &str) -> Self {
        let first_byte = if wire == WireKind::Ollama { MODEL_FIRST_BYTE_LOCAL } else { MODEL_FIRST_BYTE };
        let base_url = base_url.trim_end_matches('/').to_owned();
        Self { wire, base_url, key: None, quirks: Quirks::default(), first_byte }
    }

    /// Adds the key that every request carries.
    #[must_use]
    pub fn key(mut self, key: Secret) -> Self {
        self.key = Some(key);
        self
    }
}
