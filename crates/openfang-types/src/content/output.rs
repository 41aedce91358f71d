//! The result of a tool call: read from any revision of MCP, and kept whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{Block, ContentBlock, NotABlock};
use crate::taint::Labels;

/// The result of a tool call. A tool that fails says so here, in a sentence its caller can act on.
#[derive(Debug, Clone)]
pub struct ToolOutput {
    /// For people and models.
    pub content: Vec<Block>,
    /// The same result for programs.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What else the result says.
    pub beside: Beside,
    /// Where the content came from. Labels are never written to a peer.
    pub labels: Labels,
}

/// What a result says beside what it is for. It is relayed as it came.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// `_meta`, without what the protocol itself puts there.
    pub meta: Option<Box<RawValue>>,
    /// Members that this crate does not know.
    pub more: BTreeMap<String, Box<RawValue>>,
}

impl ToolOutput {
    pub const fn of_blocks(content: Vec<Block>) -> Self {
        let beside = Beside { meta: None, more: BTreeMap::new() };
        Self { content, structured: None, is_error: false, beside, labels: Labels::none() }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::of_blocks(vec![Block::text(text)])
    }

    /// A failure the caller can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Adds the result for programs.
    #[must_use]
    pub fn with_structured(mut self, value: &impl Serialize) -> Self {
        self.structured = to_raw_value(value).ok();
        self
    }

    /// Adds labels to what the tool returned.
    #[must_use]
    pub fn labelled(mut self, labels: &Labels) -> Self {
        self.labels.join(labels);
        self
    }

    /// All text blocks, joined by newlines.
    pub fn joined_text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }

    /// The result for programs, parsed; none where there is none that can be.
    pub fn structured_value(&self) -> Option<Value> {
        serde_json::from_str(self.structured.as_ref()?.get()).ok()
    }

    /// Reads a result of any revision. What the protocol itself adds to a result is left out.
    pub fn from_raw(raw: &RawValue) -> Result<Self, NotABlock> {
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw.get()).map_err(|_| NotABlock)?;
        let content: Vec<Block> = match members.remove("content") {
            Some(raw) => serde_json::from_str(raw.get()).map_err(|_| NotABlock)?,
            None => Vec::new(),
        };
        let is_error = members.remove("isError").is_some_and(|raw| raw.get() == "true");
        let structured = members.remove("structuredContent").filter(|raw| raw.get() != "null");
        Ok(Self { content, structured, is_error, beside: Beside::of(members), labels: Labels::none() })
    }
}

impl Beside {
    /// Takes what is left of a result once its own members are taken out.
    pub fn of(mut rest: BTreeMap<String, Box<RawValue>>) -> Self {
        for era in ["resultType", "ttlMs", "cacheScope"] {
            rest.remove(era);
        }
        let meta = rest.remove("_meta").and_then(|meta| {
            let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(meta.get()).ok()?;
            members.retain(|name, _| !is_protocol_meta(name));
            if members.is_empty() { None } else { to_raw_value(&members).ok() }
        });
        Self { meta, more: rest }
    }
}

/// Whether a member of `_meta` means something to the protocol, between one client and one server.
pub fn is_protocol_meta(name: &str) -> bool {
    name == "progressToken" || name.starts_with("io.modelcontextprotocol/")
}

impl PartialEq for ToolOutput {
    fn eq(&self, other: &Self) -> bool {
        self.labels == other.labels && serde_json::to_string(self).ok() == serde_json::to_string(other).ok()
    }
}

/// The result of a tool call. A result of an MCP server can have further members.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes the JSON that `ToolOutput` is written as")]
struct ToolOutputMembers {
    /// The result for people and models. A block of an MCP server can be of a kind that is not listed here.
    content: Vec<ContentBlock>,
    /// The same result for programs.
    #[schemars(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
    /// Whether the tool failed.
    is_error: bool,
    /// Metadata of the MCP server.
    #[schemars(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

impl JsonSchema for ToolOutput {
    fn schema_name() -> Cow<'static, str> {
        "ToolOutput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ToolOutputMembers::json_schema(generator)
    }
}

impl Serialize for ToolOutput {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(structured) = &self.structured {
            map.serialize_entry("structuredContent", structured)?;
        }
        map.serialize_entry("isError", &self.is_error)?;
        for (name, value) in &self.beside.more {
            map.serialize_entry(name, value)?;
        }
        if let Some(meta) = &self.beside.meta {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolOutput {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        Self::from_raw(&raw).map_err(serde::de::Error::custom)
    }
}
