//! `[profiles.NAME]`: selections of servers, tools and agents. A profile narrows what a caller may use, and never grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::{Glob, any_covers};
use crate::ids::{AgentName, ProfileName, ServerName};
use crate::tool::{Origin, ToolTraits};

/// What a client sees that chooses this profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// The MCP servers. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ServerName>>,
    /// The tools, by patterns of their listed names. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Glob>>,
    /// The agents, external ones included. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<AgentName>>,
}

/// A profile that applies to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProfile {
    pub name: ProfileName,
    pub profile: Profile,
}

impl Profile {
    /// Nothing at all: what is left where a profile is gone that narrowed a caller.
    pub fn nothing() -> Self {
        Self { servers: Some(Vec::new()), tools: Some(Vec::new()), agents: Some(Vec::new()) }
    }

    /// Whether the agent is in the profile.
    pub fn has_agent(&self, agent: &AgentName) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(agent))
    }

    /// Whether the tool is in the profile. The tool of an external agent is there with its agent.
    pub fn has_tool(&self, tool: &ToolTraits) -> bool {
        let is_covered = || self.tools.as_ref().is_none_or(|patterns| any_covers(patterns, tool));
        match (&tool.origin, &self.agents) {
            (Origin::A2aAgent(agent), Some(agents)) => agents.contains(agent),
            (Origin::McpServer(server), _) => {
                self.servers.as_ref().is_none_or(|servers| servers.contains(server)) && is_covered()
            }
            (Origin::A2aAgent(_), None) | (Origin::Builtin, _) => is_covered(),
        }
    }
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
