//! What results hold, as the newest revision has it. Blocks keep the bytes their source wrote, so that what we relay
//! loses nothing; `Block::shown_in` says what an older peer gets in the place of a block it does not know.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::revision::{Facts, Structured};

/// A content block.
#[derive(Debug, Clone)]
pub struct Block {
    kind: BlockKind,
    json: Box<RawValue>,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Text.
    Text,
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// A pointer to a resource.
    ResourceLink,
    /// A resource itself.
    Resource,
    /// Something newer than this crate.
    Other,
}

/// Why a value is no content block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a content block is an object with a type")]
pub struct NotABlock;

impl Block {
    /// A text.
    pub fn text(text: &str) -> Self {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        Self { kind: BlockKind::Text, json: raw(&Text { r#type: "text", text }) }
    }

    /// A block of any kind, as its source wrote it.
    pub fn from_raw(json: Box<RawValue>) -> Result<Self, NotABlock> {
        #[derive(Deserialize)]
        struct Tagged<'a> {
            #[serde(borrow)]
            r#type: Cow<'a, str>,
        }
        let tagged: Tagged<'_> = serde_json::from_str(json.get()).map_err(|_| NotABlock)?;
        let kind = match &*tagged.r#type {
            "text" => BlockKind::Text,
            "image" => BlockKind::Image,
            "audio" => BlockKind::Audio,
            "resource_link" => BlockKind::ResourceLink,
            "resource" => BlockKind::Resource,
            _ => BlockKind::Other,
        };
        Ok(Self { kind, json })
    }

    /// A block from anything that is written as one.
    pub fn of(block: &impl Serialize) -> Result<Self, NotABlock> {
        Self::from_raw(to_raw_value(block).map_err(|_| NotABlock)?)
    }

    /// What it is.
    pub const fn kind(&self) -> BlockKind {
        self.kind
    }

    /// The block, or a text in its place where the revision has no such block.
    fn shown_in(&self, facts: &Facts) -> Cow<'_, Self> {
        let is_known = match self.kind {
            BlockKind::Audio => facts.audio,
            BlockKind::ResourceLink => facts.resource_links,
            BlockKind::Text | BlockKind::Image | BlockKind::Resource | BlockKind::Other => true,
        };
        if is_known { Cow::Borrowed(self) } else { Cow::Owned(self.described()) }
    }

    fn described(&self) -> Self {
        let value: Value = serde_json::from_str(self.json.get()).unwrap_or_default();
        let member = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
        match self.kind {
            BlockKind::Audio => {
                Self::text(&format!("[audio, {}: this protocol version cannot carry it]", member("mimeType")))
            }
            BlockKind::ResourceLink => Self::text(&format!("{}: {}", member("name"), member("uri"))),
            BlockKind::Text | BlockKind::Image | BlockKind::Resource | BlockKind::Other => self.clone(),
        }
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(to)
    }
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// For people and models.
    pub content: Vec<Block>,
    /// For programs.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl CallResult {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self { content: vec![Block::text(text)], structured: None, is_error: false }
    }

    /// A failure the caller can act on.
    pub fn error(text: &str) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// What a revision has of it.
    pub(crate) fn shown_in(&self, facts: &Facts) -> ShownCall<'_> {
        let structured = self.structured.as_deref().filter(|raw| match facts.structured {
            Structured::Absent => false,
            Structured::Object => raw.get().starts_with('{'),
            Structured::Any => true,
        });
        ShownCall {
            content: self.content.iter().map(|block| block.shown_in(facts)).collect(),
            // A failure has no structured result: it would not fit the schema of a success.
            structured_content: structured.filter(|_| !self.is_error),
            is_error: self.is_error,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownCall<'a> {
    content: Vec<Cow<'a, Block>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// Who speaks in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A turn of a prompt.
#[derive(Debug, Clone)]
pub struct PromptMessage {
    /// Who speaks.
    pub role: PromptRole,
    /// What is said.
    pub content: Block,
}

/// A prompt, filled in.
#[derive(Debug, Clone)]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The turns.
    pub messages: Vec<PromptMessage>,
}

impl PromptResult {
    pub(crate) fn shown_in(&self, facts: &Facts) -> ShownPrompt<'_> {
        let messages = self.messages.iter();
        let shown =
            messages.map(|message| ShownMessage { role: message.role, content: message.content.shown_in(facts) });
        ShownPrompt { description: self.description.as_deref(), messages: shown.collect() }
    }
}

#[derive(Serialize)]
pub(crate) struct ShownPrompt<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    messages: Vec<ShownMessage<'a>>,
}

#[derive(Serialize)]
struct ShownMessage<'a> {
    role: PromptRole,
    content: Cow<'a, Block>,
}

/// What a resource holds.
#[derive(Debug, Clone, Serialize)]
pub struct ResourceContents {
    /// Its parts, each with a uri and either text or base64.
    pub contents: Vec<Box<RawValue>>,
}

impl ResourceContents {
    /// One text.
    pub fn text(uri: &str, mime_type: &str, text: &str) -> Self {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Text<'a> {
            uri: &'a str,
            mime_type: &'a str,
            text: &'a str,
        }
        Self { contents: vec![raw(&Text { uri, mime_type, text })] }
    }

    /// Parts from anything that is written as one.
    pub fn of(parts: &[impl Serialize]) -> Self {
        Self { contents: parts.iter().map(raw).collect() }
    }
}

/// Ways to complete a value.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// The values, at most 100.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

/// Our own types are always written; an empty object stands for one that could not be.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
