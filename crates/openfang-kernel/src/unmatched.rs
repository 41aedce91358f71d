//! Names in profiles that match nothing: a mistyped name would silently hide everything. Only files are read.

use openfang_types::capability::Glob;
use openfang_types::config::{Config, ConfigProblem, Profile, external_tool_name};

use crate::boot::known_tools;
use crate::settings::home::Home;

/// What profiles name and nobody has. Tools of MCP servers are known once the server was connected.
pub fn unmatched_in_profiles(home: &Home, config: &Config) -> Vec<ConfigProblem> {
    if config.profiles.is_empty() {
        return Vec::new();
    }
    let mut tools = known_tools(home);
    tools.extend(config.a2a.external_agents.iter().map(|agent| external_tool_name(&agent.name)));
    let names = KnownNames { config, agents: agents_of(home, config), tools };
    let problems =
        |(name, profile)| names.missing_in(profile).into_iter().map(move |(key, why)| problem(name, key, why));
    config.profiles.iter().flat_map(problems).collect()
}

struct KnownNames<'a> {
    config: &'a Config,
    agents: Vec<String>,
    tools: Vec<String>,
}

impl KnownNames<'_> {
    fn missing_in(&self, profile: &Profile) -> Vec<(&'static str, String)> {
        let servers = profile.servers.iter().flatten().filter(|name| !self.has_server(name.as_str()));
        let servers = servers.map(|name| ("servers", format!("there is no MCP server {name}")));
        let agents = profile
            .agents
            .iter()
            .flatten()
            .filter(|name| !self.agents.iter().any(|known| known == name.as_str()));
        let agents = agents.map(|name| ("agents", format!("there is no agent {name}")));
        let tools = profile.patterns().into_iter().flatten().filter(|pattern| !self.has_tool(pattern));
        let tools = tools.map(|pattern| ("tools", format!("{pattern} matches no known tool")));
        servers.chain(agents).chain(tools).collect()
    }

    fn has_server(&self, name: &str) -> bool {
        self.config.mcp_servers.iter().any(|entry| entry.name.as_str() == name)
    }

    fn has_tool(&self, pattern: &Glob) -> bool {
        let text = pattern.to_string();
        match text.strip_prefix("server:") {
            Some(server) => self.has_server(server),
            None => {
                let known = self.tools.iter().filter_map(|name| name.parse().ok());
                known.into_iter().any(|name| pattern.fits_name_of_any_server(&name))
            }
        }
    }
}

fn agents_of(home: &Home, config: &Config) -> Vec<String> {
    let found = std::fs::read_dir(home.agents()).into_iter().flatten().flatten();
    let local = found.map(|entry| entry.file_name().to_string_lossy().into_owned());
    local
        .chain(config.a2a.external_agents.iter().map(|agent| agent.name.to_string()))
        .collect()
}

fn problem(profile: &impl std::fmt::Display, key: &str, why: String) -> ConfigProblem {
    ConfigProblem { key: format!("profiles.{profile}.{key}"), why }
}

#[cfg(test)]
#[path = "unmatched_tests.rs"]
mod tests;
