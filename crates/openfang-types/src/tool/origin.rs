//! Where a tool comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ServerName, SkillName};

/// Where a tool comes from. Whoever adds a kind is led by the compiler to what must be decided for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
pub enum Origin {
    /// It is part of this program.
    Builtin,
    /// It belongs to an MCP server.
    McpServer(ServerName),
    /// It is an A2A agent of another server.
    A2aAgent(AgentName),
    /// It is the content of a skill.
    Skill(SkillName),
}

impl Origin {
    /// The MCP server that the tool belongs to.
    pub const fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Builtin | Self::A2aAgent(_) | Self::Skill(_) => None,
            Self::McpServer(server) => Some(server),
        }
    }

    /// The external agent that the tool is.
    pub const fn external_agent(&self) -> Option<&AgentName> {
        match self {
            Self::Builtin | Self::McpServer(_) | Self::Skill(_) => None,
            Self::A2aAgent(agent) => Some(agent),
        }
    }

    /// The skill whose content it is.
    pub const fn skill(&self) -> Option<&SkillName> {
        match self {
            Self::Builtin | Self::McpServer(_) | Self::A2aAgent(_) => None,
            Self::Skill(skill) => Some(skill),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("the built-in tools"),
            Self::McpServer(server) => write!(f, "the MCP server {server}"),
            Self::A2aAgent(agent) => write!(f, "the A2A agent {agent}"),
            Self::Skill(skill) => write!(f, "the skill {skill}"),
        }
    }
}

/// An origin as members of a listed tool.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<ServerName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skill: Option<SkillName>,
}

impl From<Written> for Origin {
    fn from(written: Written) -> Self {
        let skill = || written.skill.map_or(Self::Builtin, Self::Skill);
        let agent = || written.agent.map_or_else(skill, Self::A2aAgent);
        written.server.map_or_else(agent, Self::McpServer)
    }
}

impl From<Origin> for Written {
    fn from(origin: Origin) -> Self {
        let none = Self { server: None, agent: None, skill: None };
        match origin {
            Origin::Builtin => none,
            Origin::McpServer(server) => Self { server: Some(server), ..none },
            Origin::A2aAgent(agent) => Self { agent: Some(agent), ..none },
            Origin::Skill(skill) => Self { skill: Some(skill), ..none },
        }
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
