//! Homes that others may write.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home.prepare().unwrap();
    (directory, home)
}

#[test]
fn a_home_as_it_was_made_is_nobody_elses() {
    assert_eq!(home().1.exposures(), Ok(Vec::new()));
}

#[test]
fn whatever_everybody_may_write_is_refused_and_named() {
    for name in ["", "config.toml", "data", "agents", "agents/starter", "agents/starter/agent.toml"] {
        let (_directory, home) = home();
        let path = home.root().join(name);
        set_permissions(&path, Permissions::from_mode(0o707)).unwrap();

        let refused = home.exposures().unwrap_err();

        assert!(matches!(&refused, Exposure::Everybody { mode: 0o707, .. }), "{name}: {refused}");
        assert!(refused.to_string().contains("chmod go-w"), "{refused}");
    }
}

#[test]
fn what_a_group_may_write_is_told_and_what_others_may_only_read_is_not() {
    let (_directory, home) = home();
    set_permissions(home.config(), Permissions::from_mode(0o664)).unwrap();
    set_permissions(home.agents(), Permissions::from_mode(0o755)).unwrap();

    let expected = Exposure::Group { path: home.config(), mode: 0o664 };

    assert_eq!(home.exposures(), Ok(vec![expected]));
}

#[test]
fn the_script_of_an_agent_what_is_remembered_of_servers_and_the_way_to_the_daemon_are_looked_at() {
    for name in
        ["agents/plays/lines.toml", "agents/usual/script.toml", "data/mcp", "data/mcp/notes.json", "daemon.json"]
    {
        let (_directory, home) = home();
        for (agent, script) in [("plays", "script = \"lines.toml\"\n"), ("usual", "")] {
            let directory = home.agents().join(agent);
            std::fs::create_dir_all(&directory).unwrap();
            set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
            let manifest = format!("name = \"{agent}\"\n[model]\nprovider = \"script\"\n{script}");
            std::fs::write(directory.join("agent.toml"), manifest).unwrap();
        }
        let path = home.root().join(name);
        std::fs::create_dir_all(home.mcp()).unwrap();
        if name != "data/mcp" {
            std::fs::write(&path, "").unwrap();
        }
        for (mode, is_refused) in [(0o700, false), (0o702, true)] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(home.exposures().is_err(), is_refused, "{name}: {mode:o}");
        }
    }
}

#[test]
fn a_directory_above_the_home_that_everybody_may_write_is_refused_unless_it_is_sticky() {
    let (directory, home) = home();
    let refused = Exposure::Everybody { path: directory.path().canonicalize().unwrap(), mode: 0o777 };
    let expect = |mode: u32, expected: Result<Vec<Exposure>, Exposure>| {
        set_permissions(directory.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(home.exposures(), expected, "{mode:o}");
    };

    expect(0o755, Ok(Vec::new()));
    expect(0o777, Err(refused));
    expect(0o1777, Ok(Vec::new()));
}
