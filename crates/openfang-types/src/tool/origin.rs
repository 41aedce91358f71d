//! Where a tool comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::ServerName;

/// Where a tool comes from. Whoever adds a kind is led by the compiler to what must be decided for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Origin {
    /// It is part of this program.
    Builtin,
    /// It belongs to an MCP server.
    McpServer(ServerName),
}

impl Origin {
    /// The MCP server that the tool belongs to.
    pub const fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Builtin => None,
            Self::McpServer(server) => Some(server),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("the built-in tools"),
            Self::McpServer(server) => write!(f, "the MCP server {server}"),
        }
    }
}

/// An origin as members of a listed tool.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<ServerName>,
}

impl From<Written> for Origin {
    fn from(written: Written) -> Self {
        written.server.map_or(Self::Builtin, Self::McpServer)
    }
}

impl From<Origin> for Written {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Builtin => Self { server: None },
            Origin::McpServer(server) => Self { server: Some(server) },
        }
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
