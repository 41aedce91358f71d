//! Which tools of a server are listed, and what of an entry can be set while it is in use.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::McpServerConfigEntry;
use crate::capability::text_matches;
use crate::limits::MCP_TOOL_PATTERN_BYTES;

/// The tools of a server that are listed, under `[mcp_servers.tools]`. A tool that is not listed cannot be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSelection {
    /// The tools that are listed, by the server's own names, with `*` for any characters. If empty: all tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<ToolPattern>,
    /// The tools that are not listed, even if `include` names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<ToolPattern>,
}

impl ToolSelection {
    /// The selection that lists every tool.
    pub const EVERYTHING: Self = Self { include: Vec::new(), exclude: Vec::new() };

    pub const fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether the tool that the server calls so is listed.
    pub fn selects(&self, tool: &str) -> bool {
        let is_in = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        (self.include.is_empty() || is_in(&self.include)) && !is_in(&self.exclude)
    }

    /// The patterns that match none of these tools, so that a typing error is noticed.
    pub fn without_effect<'s>(&'s self, tools: &[&str]) -> Vec<&'s ToolPattern> {
        let all = self.include.iter().chain(&self.exclude);
        all.filter(|pattern| !tools.iter().any(|tool| pattern.matches(tool))).collect()
    }
}

/// A pattern of tool names of one server, such as `read_*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct ToolPattern(Box<str>);

/// A text that is not a pattern of tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a pattern of tools: use the server's own name of a tool, with * for any characters")]
pub struct ToolPatternError(String);

impl ToolPattern {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn matches(&self, tool: &str) -> bool {
        text_matches(&self.0, tool)
    }
}

impl FromStr for ToolPattern {
    type Err = ToolPatternError;

    fn from_str(text: &str) -> Result<Self, ToolPatternError> {
        if text.is_empty() || text.len() > MCP_TOOL_PATTERN_BYTES || text.chars().any(char::is_control) {
            return Err(ToolPatternError(text.chars().take(80).collect()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ToolPattern {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <Cow<'_, str>>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Settings of a server that can be set one by one. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpServerSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolSelection>,
}

impl McpServerSettings {
    /// The entry with these settings.
    #[must_use]
    pub fn applied_to(&self, entry: &McpServerConfigEntry) -> McpServerConfigEntry {
        let mut entry = entry.clone();
        entry.enabled = self.enabled.unwrap_or(entry.enabled);
        entry.tools = self.tools.clone().unwrap_or(entry.tools);
        entry
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
