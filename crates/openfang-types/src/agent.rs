//! An agent as its `agent.toml` describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Glob;
use crate::ids::{AgentName, ServerName, ToolName};

pub mod search;

/// `agents/<name>/agent.toml`. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentManifest {
    /// The name; the same as its directory's.
    pub name: AgentName,
    /// What it is for, in a sentence.
    pub description: String,
    /// Words under which `agent_find` finds it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What answers for the agent.
    pub model: ModelConfig,
    /// What it may use.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// The tool that receives plain text, in its one required string parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_tool: Option<ToolName>,
}

/// An agent in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSummary {
    pub name: AgentName,
    /// What it is for.
    pub description: String,
    /// Whether it is an A2A agent of another server.
    #[serde(default, rename = "external", skip_serializing_if = "std::ops::Not::not")]
    pub is_external: bool,
}

/// What answers for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Which kind of model.
    pub provider: Provider,
    /// With `provider = "script"`: the file with the rules, beside `agent.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
}

/// The kinds of model there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// No model: messages name tools.
    Direct,
    /// No model: replies come from a file.
    Script,
    /// An A2A agent of another server answers. Such agents are in `config.toml`, not in `agent.toml`.
    #[serde(skip_deserializing)]
    External,
}

impl Provider {
    /// The word in the manifest.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Script => "script",
            Self::External => "external",
        }
    }
}

/// What an agent may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Capabilities {
    /// Patterns of tool names. None: no tools.
    pub tools: Vec<Glob>,
    /// The MCP servers whose tools the patterns may reach; absent: all, empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<ServerName>>,
}
