//! Banned crates and git sources in the graph.

use super::super::tests::metadata;
use super::*;

#[test]
fn a_banned_crate_is_caught_with_the_one_who_pulls_it() {
    for (name, why) in BANNED {
        let graph = metadata(&[("openfang-api", &["some-client"]), ("some-client", &[*name]), (*name, &[])]);
        let lock = format!("[[package]]\nname = \"some-client\"\n\n[[package]]\nname = \"{name}\"\n");

        let found = bans(&graph, &Tree::of(&[(LOCK, &lock)]));

        let reason = format!("{name} is banned ({why}); pulled in by some-client 1.0.0");
        assert_eq!(found, [Violation::new(LOCK, 5, RULE, reason)]);
    }
}

#[test]
fn a_crate_from_git_is_caught() {
    let mut graph = metadata(&[("openfang-api", &["fork"]), ("fork", &[])]);
    graph.packages[1].source = Some("git+https://example.org/fork?branch=main#0123456".to_owned());

    let found = bans(&graph, &Tree::of(&[]));

    assert_eq!(found, [Violation::new(LOCK, 1, RULE, "fork comes from git; pulled in by openfang-api 1.0.0")]);
}

#[test]
fn lazy_static_is_fine_below_others_and_not_in_our_own_manifests() {
    let mut graph = metadata(&[("openfang-api", &[]), ("old", &["lazy_static"]), ("lazy_static", &[])]);
    graph.workspace_members.truncate(1);
    assert_eq!(bans(&graph, &Tree::of(&[])), []);

    graph.packages[0].dependencies.push(crate::metadata::Dependency {
        name: "lazy_static".to_owned(),
        kind: None,
        rename: None,
    });
    assert_eq!(bans(&graph, &Tree::of(&[])).len(), 1);
}
