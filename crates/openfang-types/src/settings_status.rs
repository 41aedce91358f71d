//! How the settings are doing: what `GET /api/config/status`, `POST /api/config/reload` and `openfang reload` show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An agent that cannot be used as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedAgent {
    /// The name of its directory.
    pub name: String,
    /// What is wrong with it, with file and line.
    pub reason: String,
    /// Whether the agent still answers as it was written before.
    pub is_in_force: bool,
}

/// An MCP server whose entry in `config.toml` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedServer {
    /// Its name, or its place in the list where it has none.
    pub name: String,
    /// What is wrong with it, with file and line.
    pub reason: String,
}

/// How the files of the home stand to what is in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsStatus {
    /// Why the files were not taken over; one fault a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// What waits for `openfang reload`, and why.
    #[serde(default)]
    pub waiting: Vec<String>,
    /// Keys that differ from what is in force until the next start.
    #[serde(default)]
    pub needs_restart: Vec<String>,
    /// Agents that cannot be used as they are written.
    #[serde(default)]
    pub failed_agents: Vec<FailedAgent>,
    /// MCP servers that this server was started without.
    #[serde(default)]
    pub failed_servers: Vec<FailedServer>,
    /// What does not hold child processes here, because they are portable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_walls: Vec<String>,
}

/// What a reload did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReloadReport {
    /// Keys of `config.toml` that have another value from now on.
    pub changed: Vec<String>,
    /// Agents that came, changed or went.
    pub agents: NameChanges,
    /// MCP servers that came, changed or went. Those are connected to anew, and no others.
    pub mcp_servers: NameChanges,
    /// How the files stand to what is in force now.
    #[serde(flatten)]
    pub status: SettingsStatus,
}

/// Names that came, changed or went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NameChanges {
    pub added: Vec<String>,
    /// Those that are another thing now.
    pub changed: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
}

impl NameChanges {
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl ReloadReport {
    /// Whether everything is as it was.
    pub const fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.agents.is_empty()
    }
}
