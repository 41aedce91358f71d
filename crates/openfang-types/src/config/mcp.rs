//! The MCP server of this house, under `[mcp]`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;

/// The longest time that a client can be kept waiting.
const HOLD_MAX_SECS: u64 = 3_600;

/// Settings of the MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// How long a call to an agent keeps a client waiting, in seconds. Then the client gets the task of the call, and the
    /// agent goes on. Many clients give up after 60 seconds.
    pub hold_secs: u64,
    /// The same for clients that are known to wait longer or shorter, by the name in their `clientInfo`.
    pub hold_secs_of: BTreeMap<String, u64>,
    /// Whether calls of an agent of another server that belong to one conversation of the client (`vscode.conversationId`) go
    /// on with one conversation of the agent. A call that names a `context` goes on with that one.
    pub conversations: bool,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { hold_secs: 50, hold_secs_of: BTreeMap::from([("claude-code".to_owned(), 100)]), conversations: true }
    }
}

impl McpConfig {
    /// How long a client of this name is kept waiting.
    pub fn hold(&self, client: &str) -> Duration {
        Duration::from_secs(self.hold_secs_of.get(client).copied().unwrap_or(self.hold_secs))
    }
}

pub(super) fn problems(mcp: &McpConfig) -> Vec<ConfigProblem> {
    let named = mcp.hold_secs_of.iter().map(|(name, secs)| (format!("mcp.hold_secs_of.{name}"), *secs));
    std::iter::once(("mcp.hold_secs".to_owned(), mcp.hold_secs))
        .chain(named)
        .filter(|(_, secs)| !(1..=HOLD_MAX_SECS).contains(secs))
        .map(|(key, _)| ConfigProblem { key, why: format!("must be between 1 and {HOLD_MAX_SECS}") })
        .collect()
}
