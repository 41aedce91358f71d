//! MCP servers that this house is connected to: real ones and hostile ones, seen by agents, on `/mcp`, and each at
//! `/mcp/servers/{name}`.

mod fixture;
mod processes;
mod real;
mod talk;
mod trust;
