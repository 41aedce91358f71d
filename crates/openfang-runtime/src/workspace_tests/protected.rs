//! PTH-09: our own files stay closed, whatever name they are reached by.

use std::fs;

use super::fixture::{Fixture, Snapshot, put, snapshot, variant};
use crate::workspace::Workspace;

fn ours(fixture: &Fixture, path: &str) -> Snapshot {
    snapshot(&fixture.outside(path), &fixture.outside("nothing"))
}

/// The root holds a protected file and a protected directory, both really there.
fn house() -> Fixture {
    let mut fixture = Fixture::protecting(&["keys.toml", "ws/a/openfang.toml", "ws/a/state"]);
    put(&fixture.outside("keys.toml"), "secret");
    fixture.file("openfang.toml", "secret");
    fixture.file("state/audit/log.jsonl", "secret");
    fixture.workspace = reopened(&fixture);
    fixture.remember_outside();
    fixture
}

fn reopened(fixture: &Fixture) -> Workspace {
    let protected = ["keys.toml", "ws/a/openfang.toml", "ws/a/state"].map(|path| fixture.outside(path));
    Workspace::open(&fixture.root, &protected).unwrap()
}

#[test]
fn a_protected_file_beneath_the_root_is_refused() {
    let fixture = house();
    fixture.link("to-config", "openfang.toml");
    fixture.link("dir/to-config", "../to-config");
    let before = ours(&fixture, "ws/a/openfang.toml");

    for path in ["openfang.toml", "./openfang.toml", "to-config", "dir/to-config", "openfang.toml/x"] {
        fixture.assert_refused(path, "Protected");
    }

    assert_eq!(ours(&fixture, "ws/a/openfang.toml"), before);
}

#[test]
fn a_hard_link_to_a_protected_file_is_refused() {
    let mut fixture = house();
    fs::hard_link(fixture.outside("keys.toml"), fixture.root.join("innocent.txt")).unwrap();
    fs::hard_link(fixture.root.join("openfang.toml"), fixture.root.join("dir/copy.toml")).unwrap();
    fixture.link("to-innocent", "innocent.txt");
    fixture.remember_outside();

    for path in ["innocent.txt", "dir/copy.toml", "to-innocent"] {
        fixture.assert_refused(path, "Protected");
    }

    assert_eq!(fs::read_to_string(fixture.root.join("innocent.txt")).unwrap(), "secret");
}

#[test]
fn a_protected_directory_is_closed_with_all_it_holds() {
    let fixture = house();
    fixture.link("to-state", "state");
    fixture.link("to-log", "state/audit/log.jsonl");
    fixture.link("dir/through", "../state/../file.txt");
    let before = ours(&fixture, "ws/a/state");

    for path in ["state", "state/", "state/new.txt", "state/audit", "state/audit/log.jsonl", "state/new/deep"] {
        fixture.assert_refused(path, "Protected");
    }
    for path in ["to-state", "to-state/audit/log.jsonl", "to-log", "dir/through"] {
        fixture.assert_refused(path, "Protected");
    }

    assert_eq!(ours(&fixture, "ws/a/state"), before);
}

#[test]
fn protected_entries_are_left_out_of_listings() {
    let fixture = house();
    fs::hard_link(fixture.outside("keys.toml"), fixture.root.join("innocent.txt")).unwrap();

    assert_eq!(fixture.names("."), ["dir", "file.txt"]);
}

#[test]
fn a_protected_file_that_does_not_exist_yet_cannot_be_planted() {
    let fixture = Fixture::protecting(&["ws/a/openfang.toml", "ws/a/new/state", "ws/a/state.db-wal"]);

    fixture.assert_refused("openfang.toml", "Protected");
    fixture.assert_refused("state.db-wal", "Protected");
    let early = fixture.workspace.write("new/state/planted", b"x").unwrap_err();
    let late = fixture.workspace.write("new/state", b"x").unwrap_err();

    assert_eq!(variant(&early), "Protected");
    assert_eq!(variant(&late), "Protected");
    assert!(!fixture.root.join("new/state").exists());
    fixture
        .workspace
        .write("dir/openfang.toml", b"the same name elsewhere is nobody's")
        .unwrap();
}

#[test]
fn a_protected_file_that_was_saved_anew_is_still_refused_and_so_is_its_old_self() {
    let mut fixture = house();
    fs::hard_link(fixture.outside("keys.toml"), fixture.root.join("old-keys")).unwrap();
    put(&fixture.outside("keys.new"), "new secret");
    fs::rename(fixture.outside("keys.new"), fixture.outside("keys.toml")).unwrap();
    fs::hard_link(fixture.outside("keys.toml"), fixture.root.join("new-keys")).unwrap();
    fixture.remember_outside();

    fixture.assert_refused("old-keys", "Protected");
    fixture.assert_refused("new-keys", "Protected");
}

#[test]
fn a_protected_directory_that_was_moved_is_still_refused() {
    let fixture = house();
    fs::rename(fixture.root.join("state"), fixture.root.join("dir/elsewhere")).unwrap();

    fixture.assert_refused("dir/elsewhere/audit/log.jsonl", "Protected");
    fixture.assert_refused("state/new", "Protected");
}

#[test]
fn a_protected_link_guards_itself_and_its_target() {
    let fixture = Fixture::protecting(&["ws/a/current.toml"]);
    fixture.file("real.toml", "secret");
    fixture.link("current.toml", "real.toml");

    fixture.assert_refused("current.toml", "Protected");
    fixture.assert_refused("real.toml", "Protected");
}

#[test]
fn a_root_that_is_protected_itself_is_refused() {
    let fixture = Fixture::new();

    let same = Workspace::open(&fixture.root, std::slice::from_ref(&fixture.root)).unwrap_err();
    let around = Workspace::open(&fixture.root, &[fixture.outside("ws")]).unwrap();

    assert_eq!(variant(&same), "Protected");
    assert_eq!(around.read("file.txt", 10).unwrap().bytes, b"hello", "a workspace may lie within our own directory");
}
