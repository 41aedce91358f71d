//! PTH-04: links that lead out, by themselves or in a chain, and the links of procfs that are no text at all.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::Path;

use super::fixture::{Fixture, variant};
use crate::workspace::Workspace;

#[test]
fn links_that_leave_are_refused_by_every_operation() {
    let fixture = Fixture::new();
    fixture.link("abs-dir", fixture.outside("outside"));
    fixture.link("abs-file", fixture.outside("outside/canary.txt"));
    fixture.link("rel-dir", "../../outside");
    fixture.link("rel-file", "../../outside/canary.txt");
    fixture.link("etc", "/etc");
    fixture.link("passwd", "/etc/passwd");
    fixture.link("slash", "/");
    fixture.link("up", "..");
    fixture.link("dir/up-up", "../..");
    fixture.link("proc-root", "/proc/self/root");
    fixture.link("proc-cwd", "/proc/self/cwd");
    fixture.link("hidden-climb", "dir/../dir/./../../a_evil");
    fixture.link("out-and-back", "../a/file.txt");
    fixture.link("absolute-inside", fixture.root.join("file.txt"));

    let leaving = ["abs-dir", "abs-file", "rel-dir", "rel-file", "etc", "passwd", "slash", "up", "dir/up-up"];
    for path in leaving {
        fixture.assert_refused(path, "Outside");
    }
    for path in ["proc-root", "proc-cwd", "hidden-climb", "out-and-back", "absolute-inside"] {
        fixture.assert_refused(path, "Outside");
    }
    for path in ["abs-dir/canary.txt", "abs-dir/new", "rel-dir/sub/canary.txt", "rel-dir/new/deep", "etc/passwd"] {
        fixture.assert_refused(path, "Outside");
    }
    for path in ["up/a_evil/x", "up/a/file.txt", "dir/up-up/a_evil/x", "proc-root/etc/passwd", "slash/tmp", "etc/"] {
        fixture.assert_refused(path, "Outside");
    }
}

#[test]
fn a_chain_that_ends_outside_is_refused_at_its_last_link() {
    let fixture = Fixture::new();
    fixture.link("one", "two");
    fixture.link("two", "dir/three");
    fixture.link("dir/three", "../four/");
    fixture.link("four", "../../outside");

    fixture.assert_refused("one", "Outside");
    fixture.assert_refused("one/canary.txt", "Outside");
}

/// What a hard link says is said outside too, and nothing tells on which side it was written.
#[test]
fn a_hard_link_is_not_read_until_it_is_overwritten() {
    let fixture = Fixture::new();
    fs::hard_link(fixture.outside("outside/canary.txt"), fixture.root.join("shared")).unwrap();
    fixture.link("to-shared", "shared");

    for path in ["shared", "to-shared"] {
        assert_eq!(variant(&fixture.workspace.read(path, 100).unwrap_err()), "HardLink", "{path}");
    }

    fixture.workspace.write("shared", b"mine").unwrap();
    assert_eq!(fixture.workspace.read("to-shared", 100).unwrap().bytes, b"mine");
    assert_eq!(fs::read_to_string(fixture.outside("outside/canary.txt")).unwrap(), super::fixture::CANARY);
}

#[test]
fn every_path_to_a_file_resolves_to_the_same_one() {
    let fixture = Fixture::new();
    fixture.link("alias", "dir");
    fixture.link("dir/up", "../dir/./deep/../new.txt");
    fixture.workspace.write("dir/deep/x", b"").unwrap();

    for path in ["dir/new.txt", "./dir//new.txt", "alias/new.txt"] {
        assert_eq!(fixture.workspace.target(path).unwrap().path(), "dir/new.txt", "{path}");
    }
    fixture.workspace.write("dir/new.txt", b"x").unwrap();
    for path in ["dir/up", "alias/up", "alias/new.txt"] {
        assert_eq!(fixture.workspace.file(path).unwrap().path(), "dir/new.txt", "{path}");
    }
    assert_eq!(fixture.workspace.directory("alias/").unwrap().path(), "dir");
    assert_eq!(fixture.workspace.directory(".").unwrap().path(), "");
}

#[test]
fn links_without_end_are_refused() {
    let fixture = Fixture::new();
    fixture.link("self", "self");
    fixture.link("ping", "pong");
    fixture.link("pong", "dir/../ping");
    fixture.link("deeper", "deeper/deeper");

    for path in ["self", "self/x", "ping", "pong/x", "deeper"] {
        fixture.assert_refused(path, "InvalidPath TooManyLinks");
    }
}

#[test]
fn a_link_tells_nothing_about_what_is_outside() {
    let fixture = Fixture::new();
    fixture.link("there-file", "../../outside/canary.txt");
    fixture.link("none-file", "../../outside/missing.txt");
    fixture.link("there-dir", fixture.outside("outside/sub"));
    fixture.link("none-dir", fixture.outside("outside/none"));
    let messages = |path: &str| {
        let messages = [
            fixture.workspace.read(path, 10).unwrap_err().to_string(),
            fixture.workspace.write(path, b"x").unwrap_err().to_string(),
            fixture.workspace.list(path, 10).unwrap_err().to_string(),
        ];
        messages.map(|message| message.replace("there", "some").replace("none", "some"))
    };

    assert_eq!(messages("there-file"), messages("none-file"));
    assert_eq!(messages("there-dir"), messages("none-dir"));
    assert_eq!(messages("there-dir/x"), messages("none-dir/x"));
    assert_eq!(messages("there-file/x"), messages("none-file/x"));
    fixture.assert_outside_unchanged();
}

#[test]
fn the_links_of_procfs_lead_nowhere_even_beneath_the_root() {
    let fixture = Fixture::new();
    let canary = File::open(fixture.outside("outside/canary.txt")).unwrap();
    let directory = File::open(fixture.outside("outside")).unwrap();
    let workspace = Workspace::open(Path::new("/proc"), &[]).unwrap();
    let canary_path = fixture.outside("outside/canary.txt").display().to_string();

    let ways_out = [
        format!("self/root{canary_path}"),
        format!("thread-self/root{canary_path}"),
        format!("self/fd/{}", canary.as_raw_fd()),
        format!("self/fd/{}/canary.txt", directory.as_raw_fd()),
        "self/cwd/Cargo.toml".to_owned(),
        "self/exe".to_owned(),
    ];
    for path in &ways_out {
        assert_eq!(variant(&workspace.read(path, 100).unwrap_err()), "Outside", "{path}");
        assert_eq!(variant(&workspace.write(path, b"x").unwrap_err()), "Outside", "{path}");
        assert_eq!(variant(&workspace.list(path, 100).unwrap_err()), "Outside", "{path}");
    }

    let comm = workspace.read("self/comm", 100).unwrap();
    assert!(comm.size > 0 && !comm.truncated, "a plain link beneath the root is followed");
    fixture.assert_outside_unchanged();
}
