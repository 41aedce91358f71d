//! MCP names and types, under the path that the guide gives them.

pub use openfang_mcp::client::{Connecting as McpServerConfig, Connection as McpConnection, Endpoint as McpTransport};

pub use openfang_mcp::naming::{extract_mcp_server, format_mcp_tool_name, is_mcp_tool};
