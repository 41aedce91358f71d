//! What is shown of MCP servers. The members that the integration guide names come first.

use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::{McpLeftOut, McpServerState, McpServerStatus, McpToolStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServers {
    /// As they are configured, without secrets.
    pub configured: Vec<McpServerConfigEntry>,
    /// How they are doing.
    pub connected: Vec<McpServerView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerDetails {
    /// As it is configured, without secrets.
    pub configured: McpServerConfigEntry,
    /// How it is doing.
    pub connected: McpServerView,
}

/// How a server is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerView {
    pub name: ServerName,
    /// How many tools it has.
    #[serde(rename = "tools_count")]
    pub tools_count: usize,
    pub tools: Vec<McpToolStatus>,
    /// Whether it can be used.
    pub connected: bool,
    pub state: McpServerState,
    /// Why it stands there.
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
    /// The tools that the operator left out, by the server's own names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unselected: Vec<String>,
    /// What it has and is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<McpLeftOut>,
    /// How many prompts it has.
    pub prompts: usize,
    /// How many patterns of resources it has.
    pub templates: usize,
    /// How often it was started since the daemon started.
    pub starts: u64,
}

/// How a fresh connection went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpTested {
    /// Whether the server can be used.
    pub ok: bool,
    /// How long it took until that was known.
    pub took_ms: u64,
    /// The server as it stands now.
    pub server: McpServerView,
    /// Why a new connection failed, where the server had one already, which goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl McpServerView {
    /// `clean` takes out of a text what must not be shown.
    pub(super) fn new(status: McpServerStatus, clean: impl Fn(&str) -> String) -> Self {
        let McpServerStatus {
            name,
            state,
            reason,
            stderr,
            server,
            protocol,
            tools,
            unselected,
            left_out,
            prompts,
            templates,
            starts,
        } = status;
        Self {
            name,
            tools_count: tools.len(),
            tools,
            connected: matches!(state, McpServerState::Ready | McpServerState::Degraded),
            state,
            reason: reason.as_deref().map(&clean),
            stderr: stderr.iter().map(|line| clean(line)).collect(),
            server,
            protocol,
            unselected,
            left_out,
            prompts,
            templates,
            starts,
        }
    }
}

/// A server that nobody has connected to.
pub(super) fn not_connected(name: &ServerName) -> McpServerStatus {
    McpServerStatus {
        name: name.clone(),
        state: McpServerState::Configured,
        reason: None,
        stderr: Vec::new(),
        server: None,
        protocol: None,
        tools: Vec::new(),
        unselected: Vec::new(),
        left_out: Vec::new(),
        prompts: 0,
        templates: 0,
        starts: 0,
    }
}
