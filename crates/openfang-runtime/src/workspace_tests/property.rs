//! Whatever the text: no escape, no panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use rustix::fs::{CWD, Mode, mkfifoat};

use super::fixture::{CANARY, CANARY_NAME, Fixture, variant};

const PIECES: [&str; 40] = [
    "/",
    "/",
    "/",
    "/",
    "..",
    ".",
    "./",
    "../",
    "~",
    "$HOME",
    "${X}",
    "\\",
    "%2e",
    "%2F",
    "%252e",
    "\0",
    "\n",
    "é",
    " ",
    "up",
    "up",
    "out",
    "abs",
    "loop",
    "chain",
    "proc",
    "dir",
    "dir",
    "file.txt",
    "inside.txt",
    "pipe",
    "keys",
    "state",
    "canary.txt",
    "outside",
    "a_evil",
    "x",
    "new",
    "sub",
    "dir/up",
];

fn paths() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => any::<String>(),
        4 => vec(select(PIECES.as_slice()), 0..9).prop_map(|pieces| pieces.concat()),
        4 => vec(select(PIECES.as_slice()), 1..6).prop_map(|pieces| pieces.join("/")),
    ]
}

#[test]
fn no_text_whatsoever_leads_out() {
    let mut fixture = Fixture::protecting(&["ws/a/keys", "ws/a/state"]);
    fixture.file("keys", CANARY);
    fixture.file("state/canary.txt", CANARY);
    fixture.link("up", "..");
    fixture.link("dir/up", "../../..");
    fixture.link("out", "../../outside");
    fixture.link("abs", fixture.outside("outside"));
    fixture.link("loop", "loop/x");
    fixture.link("chain", "dir/../out");
    fixture.link("proc", "/proc/self/root");
    mkfifoat(CWD, fixture.root.join("pipe"), Mode::RWXU).unwrap();
    fixture.remember_outside();
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });

    let outcome = runner.run(&paths(), |path| {
        let read = fixture.workspace.read(&path, 10_000);
        let listed = fixture.workspace.list(&path, 100);
        let written = fixture.workspace.write(&path, b"written by a tool");

        if let Ok(read) = &read {
            prop_assert!(read.bytes != CANARY.as_bytes());
        }
        if let Ok(listing) = &listed {
            // Files of that name may also be written here, but not with that length.
            let canary = (CANARY_NAME, u64::try_from(CANARY.len()).unwrap());
            prop_assert!(listing.entries.iter().all(|entry| (entry.name.as_str(), entry.size) != canary));
        }
        if let Err(error) = written {
            prop_assert!(!variant(&error).starts_with("Io"), "{error}");
        }
        Ok(())
    });

    outcome.unwrap();
    fixture.assert_outside_unchanged();
    let keys = std::fs::read_to_string(fixture.root.join("keys")).unwrap();
    assert_eq!(keys, CANARY);
}
