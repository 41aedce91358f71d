//! MCP servers that this house is connected to: real ones and hostile ones, seen by agents, on `/mcp`, and each at
//! `/mcp/servers/{name}`.

mod aggregate;
mod calls;
mod changes;
mod ends;
mod fixture;
mod grants;
mod lists;
mod memory;
mod ourselves;
mod owners;
mod processes;
mod real;
mod results;
mod schemas;
mod secrets;
mod sites;
mod talk;
mod tasks;
mod trust;
mod way_back;
