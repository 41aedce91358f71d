//! An agent as its `agent.toml` describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Glob;
use crate::ids::{AgentName, ServerName, ToolName};
use crate::skills::SkillPattern;

pub use exec::AgentExec;
pub use model::{FallbackModel, FirstToolChoice, ModelConfig, Provider, ReasoningLevel, Temperature};
pub use problems::{ManifestProblem, base_url_problem, variable_problem};
pub use rules::{ApprovalMode, Flow, FlowMode, OutputConfig, Resources};
pub use trigger::{EventPattern, Trigger};

mod exec;
mod model;
mod problems;
mod rules;
pub mod search;
mod trigger;

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
    /// Models that answer when the first one cannot, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<FallbackModel>,
    /// Events of which it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// What the agent may use of time, tokens and money.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Resources,
    /// What the agent may do without a person.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flow: Flow,
    /// The shape of the agent's answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputConfig>,
    /// How the agent narrows the programs that `shell_exec` runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exec: AgentExec,
}

impl AgentManifest {
    /// An agent with the default of every other key.
    pub fn new(name: AgentName, description: String, model: ModelConfig) -> Self {
        Self {
            name,
            description,
            model,
            capabilities: Capabilities::default(),
            default_tool: None,
            fallback_models: Vec::new(),
            resources: Resources::default(),
            flow: Flow::default(),
            output: None,
            exec: AgentExec::default(),
            tags: Vec::new(),
            triggers: Vec::new(),
        }
    }
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

/// What an agent may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Capabilities {
    /// Patterns of tool names. None: no tools.
    pub tools: Vec<Glob>,
    /// The MCP servers whose tools the patterns may reach; absent: all, empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<ServerName>>,
    /// Tools that the model is always told of, also when it has to search for the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<ToolName>,
    /// Patterns of the skills that it may activate, such as `pdf-forms` or `*`. None: no skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillPattern>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
