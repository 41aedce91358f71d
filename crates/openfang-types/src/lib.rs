//! The vocabulary of OpenFang: what every crate may say and none may redefine.
//!
//! Ids, limits, config, agents, tools, content, tasks and their events, principals, taint labels, traces, the JSON-RPC
//! envelope and the strict JSON scan. No I/O, no async, and no other crate of the house is known here.

pub mod a2a_status;
pub mod agent;
pub mod api;
pub mod background;
pub mod call;
pub mod capability;
pub mod clock;
pub mod config;
pub mod content;
pub mod dollars;
pub mod event;
pub mod exec;
pub mod ids;
pub mod jsonrpc;
pub mod limits;
pub mod mcp_status;
pub mod names;
pub mod nearest;
pub mod principal;
pub mod quota;
pub mod redact;
pub mod scan;
pub mod schema;
pub mod secret;
pub mod settings_status;
pub mod skills;
pub mod taint;
pub mod task;
pub mod tool;
pub mod trace;
pub mod unseen;
