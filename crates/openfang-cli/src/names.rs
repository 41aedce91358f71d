//! Names that a shell completes: of agents, tools, MCP servers and clients, read from the files of the home.

use clap_complete::engine::CompletionCandidate;
use openfang_kernel::config_file;
use openfang_kernel::home::Home;

/// The agents of the home.
pub(crate) fn agents() -> Vec<CompletionCandidate> {
    let entries = home().and_then(|home| std::fs::read_dir(home.agents()).ok());
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.map(CompletionCandidate::new).collect()
}

/// The MCP servers of config.toml.
pub(crate) fn servers() -> Vec<CompletionCandidate> {
    let config = home().and_then(|home| config_file::load_usable(&home.config(), &[]).ok());
    let servers = config.map(|usable| usable.config.mcp_servers).unwrap_or_default();
    servers.iter().map(|entry| CompletionCandidate::new(entry.name.to_string())).collect()
}

/// The models of known providers, as PROVIDER/MODEL.
pub(crate) fn models() -> Vec<CompletionCandidate> {
    openfang_kernel::known_models().into_iter().map(CompletionCandidate::new).collect()
}

/// The profiles of config.toml.
pub(crate) fn profiles() -> Vec<CompletionCandidate> {
    let config = home().and_then(|home| config_file::load_usable(&home.config(), &[]).ok());
    let profiles = config.map(|usable| usable.config.profiles).unwrap_or_default();
    profiles.keys().map(|name| CompletionCandidate::new(name.to_string())).collect()
}

/// The built-in tools, and those of MCP servers that were connected before.
pub(crate) fn tools() -> Vec<CompletionCandidate> {
    let names = home().map(|home| openfang_kernel::known_tools(&home)).unwrap_or_default();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn home() -> Option<Home> {
    config_file::home_directory().map(Home::at)
}
