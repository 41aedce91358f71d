//! A content block: the bytes of its source, and what kind of block it is.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::ContentBlock;

/// A content block. A text of our own is kept as text, everything else as it was written.
#[derive(Debug, Clone)]
pub struct Block {
    kind: BlockKind,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Text(String),
    Written(Box<RawValue>),
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Text,
    Image,
    Audio,
    /// A pointer to a resource.
    ResourceLink,
    Resource,
    /// Something newer than this crate.
    Other,
}

/// Why a value is no content block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a result holds content blocks, each an object with a type")]
pub struct NotABlock;

#[derive(Serialize)]
struct WrittenText<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: BlockKind::Text, body: Body::Text(text.into()) }
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
        Ok(Self { kind, body: Body::Written(json) })
    }

    /// A block from anything that is written as one.
    pub fn of(block: &impl Serialize) -> Result<Self, NotABlock> {
        Self::from_raw(to_raw_value(block).map_err(|_| NotABlock)?)
    }

    pub const fn kind(&self) -> BlockKind {
        self.kind
    }

    /// The JSON of a block that somebody else wrote; a text of our own has none yet.
    pub fn written(&self) -> Option<&RawValue> {
        match &self.body {
            Body::Text(_) => None,
            Body::Written(json) => Some(json),
        }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct TextMember<'a> {
            #[serde(borrow)]
            text: Cow<'a, str>,
        }
        match (&self.body, self.kind) {
            (Body::Text(text), _) => Some(Cow::Borrowed(text)),
            (Body::Written(json), BlockKind::Text) => {
                serde_json::from_str::<TextMember<'_>>(json.get()).ok().map(|said| said.text)
            }
            (Body::Written(_), _) => None,
        }
    }

    /// What it says. A block that we cannot read says its JSON.
    pub fn content(&self) -> ContentBlock {
        match &self.body {
            Body::Text(text) => ContentBlock::text(text),
            Body::Written(json) => serde_json::from_str(json.get()).unwrap_or_else(|_| ContentBlock::text(json.get())),
        }
    }

    /// How many bytes it has: of its text, or as it was written.
    pub fn size(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.len(),
            Body::Written(json) => json.get().len(),
        }
    }
}

impl From<ContentBlock> for Block {
    fn from(block: ContentBlock) -> Self {
        match block {
            ContentBlock::Text { text } => Self::text(text),
            other => Self::of(&other).unwrap_or_else(|NotABlock| Self::text("")),
        }
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && serde_json::to_string(self).ok() == serde_json::to_string(other).ok()
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.body {
            Body::Text(text) => WrittenText { r#type: "text", text }.serialize(to),
            Body::Written(json) => json.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::from_raw(Box::<RawValue>::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}
