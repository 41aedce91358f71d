//! What results hold, as the newest revision has it. Blocks keep the bytes their source wrote, so that what we relay
//! loses nothing; `Block::shown_in` says what an older peer gets in the place of a block it does not know.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::revision::Facts;

pub use results::{Beside, CallResult, Completion, PromptMessage, PromptResult, PromptRole, ResourceContents};

mod results;

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
#[error("a result holds content blocks, each an object with a type")]
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

    /// As its source wrote it.
    pub fn json(&self) -> &RawValue {
        &self.json
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

/// Our own types are always written; an empty object stands for one that could not be.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
