//! How the MCP servers of the house are doing: what `GET /api/mcp/servers` and `openfang mcp list` show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ServerName, ToolName};

/// Where a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpServerState {
    /// Known, and not connected to: it is when it is first used.
    Configured,
    /// Being started or connected to.
    Starting,
    Ready,
    /// Usable in part: something of it was left out, or it answers badly.
    Degraded,
    /// Not usable; it is tried again.
    Failed,
    /// Switched off by the operator.
    Disabled,
}

impl McpServerState {
    /// The word used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
            Self::Disabled => "disabled",
        }
    }
}

/// How a server is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    pub name: ServerName,
    pub state: McpServerState,
    /// Why it stands there, in a sentence, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The last lines of its stderr, where that helps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// What it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revision that is spoken with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its tools, by name.
    pub tools: Vec<McpToolStatus>,
    /// The tools that the operator left out, by the server's own names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unselected: Vec<String>,
    /// What it has and we leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<McpLeftOut>,
    /// How many prompts it has.
    pub prompts: usize,
    /// How many patterns of resources it has.
    pub templates: usize,
    /// How often it was started since we run.
    pub starts: u64,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpToolStatus {
    /// The name it is listed under.
    pub name: ToolName,
    /// What its server calls it.
    pub tool: String,
    /// What it does, with its server named before.
    pub description: String,
    /// Whether it waits to be accepted, because its definition changed or because it is new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
}

/// Something of a server that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpLeftOut {
    /// What, as the server calls it, made printable.
    pub name: String,
    pub why: String,
}

/// What of a server waits for the operator, and what it no longer has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpReview {
    pub server: ServerName,
    /// Tools that the server did not have before.
    pub new: Vec<McpToolReview>,
    /// Tools whose definition changed.
    pub changed: Vec<McpToolReview>,
    /// Tools that were accepted and that the server no longer has.
    pub removed: Vec<String>,
}

/// A tool that waits for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpToolReview {
    /// The tool, by its name on the server.
    pub tool: String,
    /// The definition that was accepted, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The definition as it is now.
    pub after: Value,
}

impl McpReview {
    pub const fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}
