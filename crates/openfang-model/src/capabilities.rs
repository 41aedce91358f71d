//! What a model can take. The names of models tell most of it; the configuration can say otherwise.

use serde::{Deserialize, Serialize};

/// What a model can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    pub images: bool,
    pub audio: bool,
    /// Whether media may stand within the result of a tool on Gemini. Anthropic and Responses always take them there,
    /// Chat and Ollama never.
    pub media_in_results: bool,
    pub reasoning: ReasoningStyle,
    /// Whether the model takes a temperature. Newer models reject it.
    pub temperature: bool,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningStyle {
    /// Not at all: it would reject the option.
    None,
    /// By a number of tokens.
    Budget,
    /// By a word, such as `low`.
    Effort,
}

impl Capabilities {
    /// What the name of a model tells. An unknown model takes images and no options for reasoning.
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let reasoning = match () {
            () if begins(&["claude-3-5", "claude-3-haiku", "claude-3-opus", "gpt-3", "gpt-4"]) => ReasoningStyle::None,
            () if begins(&["claude-3-7", "claude-opus-4-1", "claude-opus-4-2", "claude-sonnet-4-2"]) => {
                ReasoningStyle::Budget
            }
            () if begins(&["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5", "gemini-2.5"]) => {
                ReasoningStyle::Budget
            }
            () if begins(&["claude-", "gpt-5", "gpt-6", "o1", "o3", "o4", "gemini-3", "gpt-oss"]) => {
                ReasoningStyle::Effort
            }
            () if begins(&["qwen3", "deepseek-r1", "magistral"]) => ReasoningStyle::Budget,
            () => ReasoningStyle::None,
        };
        let is_text_only = begins(&["gpt-3.5", "o1-mini", "o3-mini", "gpt-oss", "deepseek", "qwen3:", "smollm"]);
        Self {
            images: !is_text_only,
            audio: begins(&["gemini-", "gpt-audio", "gpt-4o-audio"]),
            media_in_results: begins(&["gemini-3"]),
            reasoning,
            temperature: reasoning != ReasoningStyle::Effort || begins(&["gemini-", "gpt-oss"]),
        }
    }
}
