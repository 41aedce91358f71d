//! What a model is asked, in the words of no provider.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{Block, NativeItems};
use crate::capabilities::Capabilities;
use crate::tools::Toolbox;

/// One request to a model. Clones are cheap: items and tools are shared.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The model's name at the provider.
    pub model: String,
    /// The instructions that stand before the conversation.
    pub system: Arc<str>,
    pub tools: Arc<Toolbox>,
    /// The conversation, oldest first. It begins with the user, and every call is followed by its result.
    pub items: Vec<Arc<Item>>,
    pub options: RequestOptions,
    /// What the model can take. What it cannot take is replaced by a sentence.
    pub capabilities: Capabilities,
}

impl ModelRequest {
    /// A request without instructions and tools, with default options.
    pub fn new(model: &str, items: Vec<Arc<Item>>) -> Self {
        Self {
            model: model.to_owned(),
            system: Arc::from(""),
            tools: Arc::default(),
            items,
            options: RequestOptions::default(),
            capabilities: Capabilities::of(model),
        }
    }

    /// About how many tokens the text of the request has. Media and definitions of tools are not counted.
    pub fn estimated_tokens(&self) -> u64 {
        crate::wire::estimate(self)
    }

    /// The temperature, if the model takes one.
    pub(crate) fn temperature(&self) -> Option<f64> {
        self.options.temperature.filter(|_| self.capabilities.temperature)
    }
}

/// One entry of the conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A message from the user's side.
    User { parts: Vec<Part> },
    /// What the model said earlier.
    Answer {
        blocks: Vec<Block>,
        /// The same in the provider's own form. It is replayed to the same wire and model family only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<NativeItems>,
    },
    /// The results of all calls of the answer before, in the order of the calls.
    Results { results: Vec<CallResult> },
}

impl Item {
    /// A message of text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![Part::Text { text: text.into() }] }
    }
}

/// A piece of a message or of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
    Image(Media),
    Audio(Media),
}

/// An image or a sound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The content in Base64.
    pub data: Arc<str>,
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The id of the call.
    pub call: String,
    /// The name of the tool.
    pub name: String,
    pub parts: Vec<Part>,
    pub is_error: bool,
}

/// How the model is to answer.
#[derive(Debug, Clone)]
pub struct RequestOptions {
    /// The longest answer in tokens, reasoning included.
    pub max_tokens: u32,
    pub temperature: Option<f64>,
    pub reasoning: Reasoning,
    /// Whether the model must call a tool. Ollama has no such option.
    pub tool_choice: ToolChoice,
    /// The shape of the answer's text.
    pub output: Option<OutputSchema>,
    /// The context window that a local server is to allocate, in tokens.
    pub context_tokens: Option<u32>,
    /// Whether native items of earlier answers are replayed. Without, every item is sent in its canonical form.
    pub replay_native: bool,
}

impl Default for RequestOptions {
    fn default() -> Self {
        Self {
            max_tokens: 8_192,
            temperature: None,
            reasoning: Reasoning::Default,
            tool_choice: ToolChoice::Auto,
            output: None,
            context_tokens: None,
            replay_native: true,
        }
    }
}

/// How much the model may think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reasoning {
    /// As the provider decides.
    #[default]
    Default,
    Off,
    Low,
    Medium,
    High,
    /// At most so many tokens.
    Tokens(u32),
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    #[default]
    Auto,
    /// No calls, although the tools are shown.
    None,
    /// At least one call.
    Required,
    /// A call of this tool.
    Tool(String),
}

/// A schema that the text of the answer must follow.
#[derive(Debug, Clone)]
pub struct OutputSchema {
    /// A short name in `[A-Za-z0-9_-]`.
    pub name: String,
    /// The schema, a JSON object.
    pub schema: Box<RawValue>,
}
