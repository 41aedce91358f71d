//! How the MCP servers of the house are doing: what `GET /api/mcp/servers` and `openfang mcp list` show.

use serde::{Deserialize, Serialize};

use crate::ids::{ServerName, ToolName};

/// Where a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpToolStatus {
    /// The name it is listed under.
    pub name: ToolName,
    /// What its server calls it.
    pub tool: String,
    /// What it does, with its server named before.
    pub description: String,
    /// Whether it waits to be approved, because its definition changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
}

/// Something of a server that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpLeftOut {
    /// What, as the server calls it, made printable.
    pub name: String,
    pub why: String,
}
