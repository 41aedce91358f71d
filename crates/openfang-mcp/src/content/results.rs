//! The results of calls, whole: read from any revision, shown in any.

use std::borrow::Cow;
use std::collections::BTreeMap;

use openfang_types::content::ToolOutput;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Beside, Block, NotABlock, raw, shown_in};
use crate::revision::{Facts, Structured};

/// What a revision has of the result of a tool call.
pub(crate) fn shown_call<'a>(output: &'a ToolOutput, facts: &'a Facts) -> ShownCall<'a> {
    let structured = output.structured.as_deref().filter(|raw| match facts.structured {
        Structured::Absent => false,
        Structured::Object => raw.get().starts_with('{'),
        Structured::Any => true,
    });
    ShownCall {
        content: ShownBlocks { blocks: &output.content, facts },
        // A failure has no structured result: it would not fit the schema of a success.
        structured_content: structured.filter(|_| !output.is_error),
        is_error: output.is_error,
        more: &output.beside.more,
    }
}

pub(crate) struct ShownCall<'a> {
    content: ShownBlocks<'a>,
    structured_content: Option<&'a RawValue>,
    is_error: bool,
    more: &'a BTreeMap<String, Box<RawValue>>,
}

impl Serialize for ShownCall<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(structured) = self.structured_content {
            map.serialize_entry("structuredContent", structured)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        write_more(&mut map, self.more)?;
        map.end()
    }
}

/// Blocks as a revision has them, written without a list of them.
struct ShownBlocks<'a> {
    blocks: &'a [Block],
    facts: &'a Facts,
}

impl Serialize for ShownBlocks<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.blocks.iter().map(|block| shown_in(block, self.facts)))
    }
}

fn write_more<M: SerializeMap>(map: &mut M, more: &BTreeMap<String, Box<RawValue>>) -> Result<(), M::Error> {
    more.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// Who speaks in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptRole {
    User,
    Assistant,
}

/// A turn of a prompt.
#[derive(Debug, Clone)]
pub struct PromptMessage {
    pub role: PromptRole,
    pub content: Block,
}

/// A prompt, filled in.
#[derive(Debug, Clone)]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    pub messages: Vec<PromptMessage>,
    /// What else it says.
    pub beside: Beside,
}

impl PromptResult {
    /// As a server wrote it, of any revision.
    pub fn from_raw(raw: &RawValue) -> Result<Self, NotABlock> {
        #[derive(Deserialize)]
        struct Turn {
            role: PromptRole,
            content: Box<RawValue>,
        }
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get()).map_err(|_| NotABlock)?;
        let description = members.remove("description");
        let description = description.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let turns: Vec<Turn> = match members.remove("messages") {
            Some(raw) => serde_json::from_str(raw.get()).map_err(|_| NotABlock)?,
            None => Vec::new(),
        };
        let message = |turn: Turn| Ok(PromptMessage { role: turn.role, content: Block::from_raw(turn.content)? });
        let messages = turns.into_iter().map(message).collect::<Result<_, _>>()?;
        Ok(Self { description, messages, beside: Beside::of(members) })
    }

    pub(crate) fn shown_in(&self, facts: &Facts) -> ShownPrompt<'_> {
        let messages = self.messages.iter();
        let shown =
            messages.map(|message| ShownMessage { role: message.role, content: shown_in(&message.content, facts) });
        let (description, more) = (self.description.as_deref(), &self.beside.more);
        ShownPrompt { description, messages: shown.collect(), more }
    }
}

pub(crate) struct ShownPrompt<'a> {
    description: Option<&'a str>,
    messages: Vec<ShownMessage<'a>>,
    more: &'a BTreeMap<String, Box<RawValue>>,
}

impl Serialize for ShownPrompt<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        if let Some(description) = self.description {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        write_more(&mut map, self.more)?;
        map.end()
    }
}

#[derive(Serialize)]
struct ShownMessage<'a> {
    role: PromptRole,
    content: Cow<'a, Block>,
}

/// What a resource holds.
#[derive(Debug, Clone)]
pub struct ResourceContents {
    /// Its parts, each with a uri and either text or base64.
    pub contents: Vec<Box<RawValue>>,
    /// What else it says.
    pub beside: Beside,
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("contents", &self.contents)?;
        write_more(&mut map, &self.beside.more)?;
        map.end()
    }
}

impl ResourceContents {
    /// As a server wrote it, of any revision.
    pub fn from_raw(raw: &RawValue) -> Result<Self, NotABlock> {
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get()).map_err(|_| NotABlock)?;
        let contents = members.remove("contents").ok_or(NotABlock)?;
        let contents = serde_json::from_str(contents.get()).map_err(|_| NotABlock)?;
        Ok(Self { contents, beside: Beside::of(members) })
    }

    pub fn text(uri: &str, mime_type: &str, text: &str) -> Self {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Text<'a> {
            uri: &'a str,
            mime_type: &'a str,
            text: &'a str,
        }
        Self { contents: vec![raw(&Text { uri, mime_type, text })], beside: Beside::default() }
    }

    /// Parts from anything that is written as one.
    pub fn of(parts: &[impl Serialize]) -> Self {
        Self { contents: parts.iter().map(raw).collect(), beside: Beside::default() }
    }
}

/// Ways to complete a value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
