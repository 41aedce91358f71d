//! The wires: what a provider wants to read, and what it writes.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use openfang_egress::sse::SseError;
use openfang_types::limits::{MODEL_CALLS_MAX, MODEL_REQUEST_MAX_BYTES};
use serde::{Deserialize, Serialize};

use crate::answer::{Block, Delta, ModelAnswer};
use crate::endpoint::Quirks;
use crate::frame::Frame;
use crate::reader::AnswerReader;
use crate::refusal::Refusal;
use crate::request::ModelRequest;
use crate::tools::{Toolbox, cut};
use crate::validity::{self, Unencodable};

mod anthropic;
mod assembly;
mod chat;
mod gemini;
mod ids;
mod ollama;
mod openai;
mod parts;
mod responses;

/// The protocols that model providers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireKind {
    /// Messages, the protocol of Anthropic.
    Anthropic,
    /// Responses, the newer protocol of OpenAI.
    Responses,
    /// OpenAI Chat Completions, which most other servers imitate.
    Chat,
    /// The method `streamGenerateContent` of Gemini.
    Gemini,
    /// The own protocol of Ollama, `/api/chat`.
    Ollama,
}

impl WireKind {
    pub const ALL: [Self; Self::COUNT] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini, Self::Ollama];
    pub(crate) const COUNT: usize = 5;

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// The name in stored items and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

impl fmt::Display for WireKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How an answer is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Events,
    /// A JSON document on each line.
    Lines,
    Whole,
}

/// A request as bytes.
#[derive(Debug, Clone)]
pub struct Encoded {
    pub wire: WireKind,
    /// The path and query behind the base URL of the provider.
    pub path: String,
    /// Headers that belong to the wire, without credentials.
    pub headers: HeaderMap,
    pub body: Bytes,
    pub framing: Framing,
    /// About how many tokens the request has.
    pub estimated_tokens: u64,
    pub(crate) model: String,
    pub(crate) tools: Arc<Toolbox>,
}

impl Encoded {
    /// A reader for the answer to this request. The media type decides how the answer is framed: some servers send one
    /// document although a stream was asked for.
    pub fn reader(&self, content_type: Option<&str>) -> AnswerReader {
        AnswerReader::new(self, content_type)
    }
}

/// Encodes a request for a wire. The same request always becomes the same bytes.
pub fn encode(wire: WireKind, request: &ModelRequest, quirks: &Quirks) -> Result<Encoded, Unencodable> {
    validity::check(&request.items)?;
    let (path, body) = match wire {
        WireKind::Anthropic => ("/v1/messages".to_owned(), anthropic::encode::body(request)),
        WireKind::Responses => ("/responses".to_owned(), responses::encode::body(request)),
        WireKind::Chat => ("/chat/completions".to_owned(), chat::encode::body(request, quirks)),
        WireKind::Gemini => (gemini::encode::path(&request.model), gemini::encode::body(request)),
        WireKind::Ollama => ("/api/chat".to_owned(), ollama::encode::body(request)),
    };
    if body.len() > MODEL_REQUEST_MAX_BYTES {
        return Err(Unencodable::TooLarge { bytes: body.len() });
    }
    let mut headers = HeaderMap::new();
    if wire == WireKind::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let framing = if wire == WireKind::Ollama { Framing::Lines } else { Framing::Events };
    Ok(Encoded {
        wire,
        path,
        headers,
        estimated_tokens: estimate(request),
        body: Bytes::from(body),
        framing,
        model: request.model.clone(),
        tools: Arc::clone(&request.tools),
    })
}

/// About how many tokens the text of a request has. Media are not counted.
pub(crate) fn estimate(request: &ModelRequest) -> u64 {
    use crate::request::{Item, Part};
    let of_parts = |parts: &[Part]| {
        let lengths = parts.iter().map(|part| match part {
            Part::Text { text } => text.len(),
            Part::Image(_) | Part::Audio(_) => 0,
        });
        lengths.sum::<usize>()
    };
    let of_items = request.items.iter().map(|item| match &**item {
        Item::User { parts } => of_parts(parts),
        Item::Answer { blocks, .. } => {
            let lengths = blocks.iter().map(|block| match block {
                Block::Text { text } => text.len(),
                Block::Thinking { .. } => 0,
                Block::Call(call) => call.name.len() + call.arguments.as_json().len(),
            });
            lengths.sum()
        }
        Item::Results { results } => results.iter().map(|result| of_parts(&result.parts)).sum(),
    });
    // Three and a half characters make a token.
    ((request.system.len() + of_items.sum::<usize>()) * 2 / 7) as u64
}

/// Reads the frames of one answer.
pub(crate) trait Decoder: Send {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault>;
    /// Whether the end mark arrived, after which nothing counts.
    fn is_complete(&self) -> bool;
    fn end(self: Box<Self>) -> Result<ModelAnswer, WireFault>;
}

pub(crate) fn decoder(encoded: &Encoded) -> Box<dyn Decoder> {
    let assembly = assembly::Assembly::new(encoded.wire, &encoded.model, Arc::clone(&encoded.tools));
    match encoded.wire {
        WireKind::Anthropic => Box::new(anthropic::decode::AnthropicDecoder::new(assembly)),
        WireKind::Responses => Box::new(responses::decode::ResponsesDecoder::new(assembly)),
        WireKind::Chat => Box::new(chat::decode::ChatDecoder::new(assembly)),
        WireKind::Gemini => Box::new(gemini::decode::GeminiDecoder::new(assembly)),
        WireKind::Ollama => Box::new(ollama::decode::OllamaDecoder::new(assembly, encoded.estimated_tokens)),
    }
}

/// Why the bytes of a provider are not an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireFault {
    /// The bytes ended before the wire's end mark.
    #[error("the answer broke off before its end")]
    Cut,
    /// Something else than the wire's frames arrived, such as a web page.
    #[error("the provider answered with something else than an answer of a model: {beginning:?}; check the base url")]
    NotAnAnswer {
        /// The first characters of it.
        beginning: String,
    },
    /// A frame is not what the wire defines.
    #[error("the provider sent a broken answer: {reason}")]
    Malformed { reason: String },
    #[error("{what} is larger than {limit} bytes")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("the event stream exceeds a limit: {0}")]
    Events(SseError),
    #[error("the answer has more than {limit} blocks")]
    TooManyBlocks { limit: usize },
    #[error("the answer has more than {MODEL_CALLS_MAX} tool calls")]
    TooManyCalls,
    /// The provider reported an error within the stream.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The server dropped the beginning of the prompt without a word.
    #[error(
        "the server cut the context: it read {read} tokens of about {sent}; give the model a larger context window"
    )]
    ContextCut { sent: u64, read: u64 },
}

impl WireFault {
    /// What a provider said in the place of an answer, in one of its frames.
    fn refused(frame: &str) -> Self {
        Self::Refused(Box::new(Refusal::in_stream(frame)))
    }

    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed { reason: cut(reason.into(), 300) }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
