//! MCP names, under the path that the guide gives them.

pub use openfang_mcp::naming::{extract_mcp_server, format_mcp_tool_name, is_mcp_tool};
