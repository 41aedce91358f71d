//! What a model answers, in the words of no provider.

use openfang_types::scan::scan_text;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::WireKind;

/// A whole answer. Only an [`AnswerReader`](crate::AnswerReader) makes one, after the wire's end mark.
#[derive(Debug, Clone)]
pub struct ModelAnswer {
    /// What the model said, in order.
    pub blocks: Vec<Block>,
    /// The same as the provider wrote it.
    pub native: NativeItems,
    pub stop: Stop,
    pub usage: Usage,
    /// The provider's id of this answer, for its support.
    pub request_id: Option<String>,
}

impl ModelAnswer {
    /// The text of the answer, without thoughts.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::Thinking { .. } | Block::Call(_) => None,
        });
        texts.collect()
    }

    /// The calls that the model asks for. An answer that ended for any other reason than its calls has none, because its
    /// last call may be cut.
    pub fn runnable_calls(&self) -> impl Iterator<Item = &Call> {
        let may_run = matches!(self.stop, Stop::Calls);
        calls(&self.blocks).filter(move |_| may_run)
    }
}

/// The calls among blocks, whether they may run or not.
pub(crate) fn calls(blocks: &[Block]) -> impl Iterator<Item = &Call> {
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text { .. } | Block::Thinking { .. } => None,
    })
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    /// Reasoning that the provider shows. It is never sent back in this form.
    Thinking {
        text: String,
    },
    Call(Call),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call, or one made from its place in the answer.
    pub id: String,
    /// The name of the tool as the request named it.
    pub name: String,
    pub arguments: CallArguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    /// A JSON object that passed the strict scan.
    Object(Box<RawValue>),
    /// Not a JSON object. The call cannot run.
    Invalid {
        /// What the model wrote.
        text: String,
        /// What is wrong with it, for the model to read.
        reason: String,
    },
}

impl CallArguments {
    /// Checks what a model wrote. Nothing at all means no arguments.
    pub fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        let written = if trimmed.is_empty() { "{}" } else { trimmed };
        let invalid = |reason: String| Self::Invalid { text: text.to_owned(), reason };
        if let Err(error) = scan_text(written.as_bytes()) {
            return invalid(format!("the arguments are not valid JSON: {error}"));
        }
        if !written.starts_with('{') {
            return invalid("the arguments are not a JSON object".to_owned());
        }
        match serde_json::from_str(written) {
            Ok(object) => Self::Object(object),
            Err(error) => invalid(format!("the arguments are not valid JSON: {error}")),
        }
    }

    /// The object as JSON text. Invalid arguments become an empty object, which every provider accepts.
    pub fn as_json(&self) -> &str {
        match self {
            Self::Object(object) => object.get(),
            Self::Invalid { .. } => "{}",
        }
    }
}

impl PartialEq for CallArguments {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(one), Self::Object(two)) => one.get() == two.get(),
            (Self::Invalid { text: one, .. }, Self::Invalid { text: two, .. }) => one == two,
            (Self::Object(_), Self::Invalid { .. }) | (Self::Invalid { .. }, Self::Object(_)) => false,
        }
    }
}

impl Eq for CallArguments {}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Finished,
    /// The model waits for the results of its calls.
    Calls,
    /// The longest answer was reached.
    Length,
    /// The context window is full.
    ContextFull,
    /// The model declines, with its reason.
    Refused(String),
    /// A filter of the provider stopped the answer.
    Filtered(String),
    /// The provider paused a long turn: the same conversation, with this answer, goes on.
    Paused,
    /// A reason that this version does not know.
    Other(String),
}

/// The items of an answer as the provider wrote them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NativeItems {
    pub wire: WireKind,
    /// The model that wrote them.
    pub model: String,
    pub items: Vec<Box<RawValue>>,
}

impl NativeItems {
    /// Whether these items may be replayed to a model: the wire and the family of the model are the same.
    pub fn fits(&self, wire: WireKind, model: &str) -> bool {
        self.wire == wire && family(&self.model) == family(model)
    }
}

impl PartialEq for NativeItems {
    fn eq(&self, other: &Self) -> bool {
        let texts = |items: &[Box<RawValue>]| items.iter().map(|item| item.get().to_owned()).collect::<Vec<_>>();
        self.wire == other.wire && self.model == other.model && texts(&self.items) == texts(&other.items)
    }
}

impl Eq for NativeItems {}

/// A model's name without the date of its release: `claude-sonnet-4-6-20260105` and `claude-sonnet-4-6` are one family.
pub(crate) fn family(model: &str) -> &str {
    let name = model.strip_suffix("-latest").unwrap_or(model);
    match name.rsplit_once(['-', '@']) {
        Some((family, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => family,
        _ => name,
    }
}

/// Tokens that an answer took. A number that the provider did not give is absent, which is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, those from the cache included.
    pub input: Option<u64>,
    /// Those of the input that came from the provider's cache.
    pub cached: Option<u64>,
    /// Those of the input that were written to the provider's cache.
    pub cache_written: Option<u64>,
    /// Tokens of the answer, reasoning included.
    pub output: Option<u64>,
    /// Those of the output that were reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Makes the parts fit their whole: a provider that claims more cached than read tokens is wrong.
    pub(crate) fn plausible(mut self) -> Self {
        let within =
            |part: Option<u64>, whole: Option<u64>| part.map(|part| whole.map_or(part, |whole| part.min(whole)));
        self.cached = within(self.cached, self.input);
        let rest = self.input.map(|input| input - self.cached.unwrap_or(0));
        self.cache_written = within(self.cache_written, rest);
        self.reasoning = within(self.reasoning, self.output);
        self
    }
}

/// What is told while an answer arrives. It is for showing only: calls run from the [`ModelAnswer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    Text(&'a str),
    Thinking(&'a str),
    CallBegins {
        /// The place of the call among the calls of this answer.
        index: usize,
        name: &'a str,
    },
    CallGrows {
        index: usize,
        /// How many bytes of arguments arrived.
        bytes: usize,
    },
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
