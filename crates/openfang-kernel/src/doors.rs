//! The doors: adapters between a protocol's server and the kernel. They own nothing.
//!
//! `mcp` serves MCP clients, `gateway` hands one MCP server through, `a2a` serves A2A clients, `cards` says to whom the
//! agents are shown and how.

pub mod a2a;
pub(crate) mod cards;
pub mod gateway;
pub mod mcp;
