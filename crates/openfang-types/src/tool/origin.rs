//! Where a tool comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ServerName};

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
}

impl Origin {
    /// The MCP server that the tool belongs to.
    pub const fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Builtin | Self::A2aAgent(_) => None,
            Self::McpServer(server) => Some(server),
        }
    }

    /// The external agent that the tool is.
    pub const fn external_agent(&self) -> Option<&AgentName> {
        match self {
            Self::Builtin | Self::McpServer(_) => None,
            Self::A2aAgent(agent) => Some(agent),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("the built-in tools"),
            Self::McpServer(server) => write!(f, "the MCP server {server}"),
            Self::A2aAgent(agent) => write!(f, "the A2A agent {agent}"),
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
}

impl From<Written> for Origin {
    fn from(written: Written) -> Self {
        let agent = || written.agent.map_or(Self::Builtin, Self::A2aAgent);
        written.server.map_or_else(agent, Self::McpServer)
    }
}

impl From<Origin> for Written {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Builtin => Self { server: None, agent: None },
            Origin::McpServer(server) => Self { server: Some(server), agent: None },
            Origin::A2aAgent(agent) => Self { server: None, agent: Some(agent) },
        }
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
