//! The MCP server, over HTTP and stdio, in every revision; and in `client.rs` the client, over HTTP.

mod answers;
mod call_tasks;
mod client;
mod hostile;
mod http;
mod http2;
mod input;
mod lazy;
mod long_calls;
mod one_server;
mod owners;
mod profiles;
mod readme;
mod relay;
mod results;
mod seeds;
mod sessions;
mod stdio;
mod subscriptions;
mod task_notices;
mod task_privacy;
mod tool_call;
pub(crate) mod wire;
