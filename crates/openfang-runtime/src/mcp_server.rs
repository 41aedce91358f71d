//! What an MCP server is made of, under one path; and tools as entries of its lists. What it shows of the house is a
//! [`View`].

use openfang_types::ids::AgentName;

pub use openfang_mcp::listing::Entry;
pub use openfang_mcp::meta::LogLevel;
pub use openfang_mcp::server::{Parts, Server, Shared};
pub use openfang_mcp::{Host, McpError};
pub(crate) use tools::listed_json;
pub use tools::{entry, raw};

mod tools;

/// What of the house is shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum View {
    Agents,
    /// The agents and the tools.
    Everything,
    /// One agent, and with `tools` those that it can use.
    Agent {
        name: AgentName,
        /// Whether its tools are shown too.
        tools: bool,
    },
    /// The same through two tools, with which all others are found and called.
    Lazy(Box<Self>),
}

impl View {
    /// The agent that alone is shown.
    pub fn only_agent(&self) -> Option<&AgentName> {
        match self {
            Self::Agents | Self::Everything => None,
            Self::Agent { name, .. } => Some(name),
            Self::Lazy(inner) => inner.only_agent(),
        }
    }
}
