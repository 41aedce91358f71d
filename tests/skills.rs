//! Skills end to end: found, trusted, activated by agents with a model, served over MCP and A2A, taken over from MCP servers.

mod a2a;
mod commands;
mod fixture;
mod installing;
mod mcp;
mod runs;
mod servers;
mod trust;
