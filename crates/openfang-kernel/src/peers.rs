//! Whatever is connected from outside and becomes a source of tools: the MCP servers of the configuration, and the commands
//! that add, test and remove them.

pub mod mcp_control;
pub(crate) mod upstreams;
