//! Which workspace a path is in.

use super::*;

#[test]
fn a_path_belongs_to_the_workspace_that_it_is_below() {
    let rows = [
        ("owners/ada/x", Some(("owners/ada", "x"))),
        ("agents/one/a/b.txt", Some(("agents/one", "a/b.txt"))),
        ("users/ada/agents/one/a/b", Some(("users/ada/agents/one", "a/b"))),
        ("users/ada/agents/one", None),
        ("owners/ada", None),
        ("else/ada/x", None),
        ("", None),
    ];
    for (path, expected) in rows {
        assert_eq!(Workspaces::split(path), expected, "{path}");
    }
}
