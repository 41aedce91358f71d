//! Names in profiles are compared with what there is.

use openfang_types::config::McpTransportEntry;
use openfang_types::config::{McpServerConfigEntry, ProfileTools};

use super::*;

#[test]
fn names_that_match_nothing_are_found_and_others_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().to_owned());
    home.prepare().unwrap();
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    let mut config = Config {
        mcp_servers: vec![McpServerConfigEntry::new("files".parse().unwrap(), transport)],
        ..Config::default()
    };
    let profile = |servers: &str, tools: &[&str], agents: &str| Profile {
        servers: Some(vec![servers.parse().unwrap()]),
        tools: Some(ProfileTools::Patterns(tools.iter().map(|pattern| pattern.parse().unwrap()).collect())),
        agents: Some(vec![agents.parse().unwrap()]),
        skills: None,
    };
    config
        .profiles
        .insert("good".parse().unwrap(), profile("files", &["file_*", "server:files"], "starter"));
    config
        .profiles
        .insert("bad".parse().unwrap(), profile("fles", &["fiel_*", "server:fles"], "starte"));

    let found = unmatched_in_profiles(&home, &config);

    let found: Vec<String> = found.iter().map(|problem| format!("{}: {}", problem.key, problem.why)).collect();
    assert_eq!(
        found,
        [
            "profiles.bad.servers: there is no MCP server fles",
            "profiles.bad.agents: there is no agent starte",
            "profiles.bad.tools: fiel_* matches no known tool",
            "profiles.bad.tools: server:fles matches no known tool",
        ]
    );
}
