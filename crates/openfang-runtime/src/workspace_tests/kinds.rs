//! What is neither a file nor a directory: it must not be opened, nor may it hold the caller.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::fixture::{Fixture, variant};
use crate::workspace::EntryKind;

#[test]
fn pipes_and_sockets_are_neither_read_nor_replaced() {
    let fixture = Fixture::new();
    mkfifoat(CWD, fixture.root.join("pipe"), Mode::RWXU).unwrap();
    let _listener = UnixListener::bind(fixture.root.join("socket")).unwrap();
    fixture.link("to-pipe", "pipe");
    let started = Instant::now();

    for path in ["pipe", "socket", "to-pipe"] {
        assert_eq!(fixture.refusals(path), ["NotAFile", "NotAFile", "NotADirectory"], "{path}");
        assert_eq!(fixture.refusals(&format!("{path}/x")), ["NotADirectory"; 3], "{path}");
    }

    assert!(started.elapsed() < Duration::from_secs(5), "a pipe without a writer must not block");
    let kinds = fixture
        .workspace
        .list(".", 10)
        .unwrap()
        .entries
        .into_iter()
        .map(|entry| (entry.name, entry.kind));
    let kinds: Vec<_> = kinds.filter(|(_, kind)| *kind == EntryKind::Other).map(|(name, _)| name).collect();
    assert_eq!(kinds, ["pipe", "socket"]);
}

#[test]
fn devices_are_not_read() {
    let fixture = Fixture::new();
    fixture.link("zero", "/dev/zero");
    fixture.link("tty", "/dev/tty");

    fixture.assert_refused("zero", "Outside");
    fixture.assert_refused("tty", "Outside");

    let devices = crate::workspace::Workspace::open(std::path::Path::new("/dev"), &[]).unwrap();
    for name in ["zero", "null", "full"] {
        assert_eq!(variant(&devices.read(name, 10).unwrap_err()), "NotAFile", "{name}");
        assert_eq!(variant(&devices.write(name, b"x").unwrap_err()), "NotAFile", "{name}");
    }
}

#[test]
fn a_directory_is_not_a_file() {
    let fixture = Fixture::new();
    fixture.link("to-dir", "dir");

    for path in ["dir", "dir/", "to-dir", "to-dir/.", "."] {
        assert_eq!(fixture.refusals(path), ["NotAFile", "NotAFile", "ok"], "{path}");
    }
    assert_eq!(fixture.refusals("file.txt"), ["ok", "ok", "NotADirectory"]);
    assert_eq!(fixture.refusals("file.txt/"), ["NotADirectory"; 3]);
    assert_eq!(fixture.refusals("new/"), ["NotFound", "NotAFile", "NotFound"]);
    assert_eq!(fs::read_dir(fixture.root.join("dir")).unwrap().count(), 1);
}
