//! The names under which the tools of other servers are listed: `mcp_{server}_{tool}`.
//!
//! The names are for showing. Routing goes by a map from the full name, never by taking a name apart.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

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

/// A name for every tool of every server, in their order. A name that is taken, longer than `max`, or has characters that
/// names cannot have, ends with a short hash of what it stands for: the same tools in the same order always have the same
/// names. Where tools of two servers would have one name neither has it: whoever was allowed to use it must not find
/// another server behind it. The second value says whether a name ends with a hash.
pub fn unique_names<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str)>, max: usize) -> Vec<(String, bool)> {
    let tools: Vec<(&str, &str, String)> = tools
        .into_iter()
        .map(|(server, tool)| (server, tool, format_mcp_tool_name(server, tool)))
        .collect();
    let (mut owners, mut contested) = (HashMap::new(), HashSet::new());
    for (server, _, plain) in &tools {
        if *owners.entry(plain.as_str()).or_insert(*server) != *server {
            contested.insert(plain.as_str());
        }
    }
    let mut taken: HashSet<String> = contested.iter().map(|name| (*name).to_owned()).collect();
    tools
        .iter()
        .map(|(server, tool, plain)| name_of((server, tool), plain, max, &mut taken))
        .collect()
}

fn name_of((server, tool): (&str, &str), plain: &str, max: usize, taken: &mut HashSet<String>) -> (String, bool) {
    let is_usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if plain.len() <= max && plain.chars().all(is_usable) && taken.insert(plain.to_owned()) {
        return (plain.to_owned(), false);
    }
    let digest = Sha256::digest(format!("{server}\0{tool}").as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept: String = plain.chars().map(|c| if is_usable(c) { c } else { '_' }).collect();
    // As short as can be, and longer only for two that begin alike.
    for length in 6..=hash.len() {
        let kept: String = kept.chars().take(max.saturating_sub(length + 1)).collect();
        let name = format!("{kept}_{}", &hash[..length]);
        if taken.insert(name.clone()) {
            return (name, true);
        }
    }
    (hash, true)
}

fn normalised(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
