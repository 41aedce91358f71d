//! The MCP server, over HTTP and stdio, in every revision.

mod client;
mod hostile;
mod http;
mod input;
mod readme;
mod seeds;
mod sessions;
mod stdio;
mod subscriptions;
mod wire;
