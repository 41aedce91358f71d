//! What happens when a tool is called or an agent is spoken to.
//!
//! [`pipeline`] is the one guarded way to a tool, [`tools`] holds the built-in ones, [`answerer`] who answers for an
//! agent, [`workspace`] the gate to files. Nothing here knows HTTP, the command line or SQL.

pub mod a2a;
pub mod agents;
pub mod answerer;
mod call_room;
pub mod catalog;
pub mod context;
mod exec;
pub mod external_call;
pub mod external_tools;
pub mod files;
pub mod foreign_agents;
pub mod mcp;
pub mod mcp_server;
pub mod mcp_tool;
pub mod metrics;
pub mod models;
pub mod outward_calls;
pub mod pipeline;
pub mod programs;
pub mod quarantine;
pub mod sandboxed_run;
mod schema_check;
pub mod server_call;
pub mod server_tools;
pub mod skills;
pub mod task_output;
pub mod timing;
pub mod tool_index;
pub mod tool_search;
pub mod tool_source;
pub mod tools;
pub mod transcript;
pub mod web;
pub mod workspace;
pub mod workspaces;
