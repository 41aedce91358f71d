//! Control of the MCP servers: who may, what is shown, what is written.

mod api;
mod choosing;
mod command_line;
mod hostile_files;
mod hostile_servers;
mod portable;
mod registry;
mod sandbox;
