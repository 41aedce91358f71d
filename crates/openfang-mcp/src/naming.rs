//! The names under which the tools of other servers are listed: `mcp_{server}_{tool}`.
//!
//! The names are for showing. Routing goes by a map from the full name, never by taking a name apart.

/// The full name of a server's tool: lower case, hyphens to underscores.
pub fn format_mcp_tool_name(server: &str, tool: &str) -> String {
    format!("mcp_{}_{}", normalised(server), normalised(tool))
}

/// Whether a tool belongs to a server.
pub fn is_mcp_tool(name: &str) -> bool {
    name.starts_with("mcp_")
}

/// The first segment behind `mcp_`, for showing: a server's own name may have underscores.
pub fn extract_mcp_server(name: &str) -> Option<&str> {
    let (server, _) = name.strip_prefix("mcp_")?.split_once('_')?;
    Some(server).filter(|server| !server.is_empty())
}

/// The name of the tool that is an agent.
pub fn format_agent_tool_name(agent: &str) -> String {
    format!("openfang_agent_{}", normalised(agent))
}

fn normalised(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
