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
