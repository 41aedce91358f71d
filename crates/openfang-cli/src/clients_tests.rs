//! Where files are looked for, and what is written there.

use std::path::Path;

use openfang_kernel::config_file::Directories;

use super::places::project_of;
use super::*;

const HOME: &str = "/srv/ada";
const PROJECT: &str = "/srv/ada/shop";

#[test]
fn files_are_looked_for_where_each_system_keeps_them() {
    let directories = Directories {
        home: Some(HOME.into()),
        config: Some("/srv/ada/.config".into()),
        roaming: Some("/roaming".into()),
        codex: Some("/srv/ada/.codex".into()),
    };

    let all = places(&directories, Some(Path::new(PROJECT)));
    let found: Vec<(&str, &str)> = all.iter().map(|held| (held.client.word(), held.path.to_str().unwrap())).collect();

    for expected in [
        ("claude-desktop", "/srv/ada/.config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "/srv/ada/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "/roaming/Claude/claude_desktop_config.json"),
        ("claude-code", "/srv/ada/.claude.json"),
        ("claude-code", "/srv/ada/shop/.mcp.json"),
        ("cursor", "/srv/ada/.cursor/mcp.json"),
        ("cursor", "/srv/ada/shop/.cursor/mcp.json"),
        ("vscode", "/srv/ada/.config/Code/User/mcp.json"),
        ("vscode", "/srv/ada/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "/roaming/Code/User/mcp.json"),
        ("vscode", "/srv/ada/shop/.vscode/mcp.json"),
        ("codex", "/srv/ada/.codex/config.toml"),
        ("codex", "/srv/ada/shop/.codex/config.toml"),
        ("windsurf", "/srv/ada/.codeium/windsurf/mcp_config.json"),
        ("zed", "/srv/ada/.config/zed/settings.json"),
        ("zed", "/roaming/Zed/settings.json"),
        ("zed", "/srv/ada/shop/.zed/settings.json"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    assert!(places(&Directories::default(), None).is_empty());
    let at_home = places(&directories, Some(Path::new(HOME)));
    assert_eq!(at_home.iter().filter(|held| held.path.ends_with(".cursor/mcp.json")).count(), 1, "one file, once");
}

#[test]
fn a_file_belongs_to_the_project_around_its_settings() {
    assert_eq!(project_of(Path::new("/p/.vscode/mcp.json")), Some("/p".into()));
    assert_eq!(project_of(Path::new("/p/.mcp.json")), Some("/p".into()));
}
