//! Whatever is connected from outside and becomes a source of tools: the MCP servers and the A2A agents of the configuration,
//! the models that answer for agents, the skills, and the commands that add, test and remove them.

pub(crate) mod external;
pub mod external_control;
pub(crate) mod lending;
pub mod mcp_control;
pub(crate) mod models;
pub mod skill_control;
pub(crate) mod skills;
pub(crate) mod upstreams;
