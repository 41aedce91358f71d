//! PTH-05: somebody renames while we walk. Directories and files trade places with links that lead out, and a directory
//! moves up and down under a link that climbs. Runs for `RACE_SECS` seconds, 5 unless told.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::fixture::{CANARY_NAME, Fixture, variant};
use crate::workspace::WorkspaceError;

/// What the three places that trade with links hold, when they are themselves.
const INSIDE: &[u8] = b"inside";

#[derive(Default)]
struct Tally {
    succeeded: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    /// Counts, and lets through only refusals that a rename can explain.
    fn count<T>(&self, outcome: Result<T, WorkspaceError>) -> Option<T> {
        match outcome {
            Ok(value) => {
                self.succeeded.fetch_add(1, Ordering::Relaxed);
                Some(value)
            }
            Err(error) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let explained = ["Outside", "NotFound", "NotAFile", "NotADirectory", "Io ResourceBusy"];
                assert!(explained.contains(&variant(&error).as_str()), "{error:?}");
                None
            }
        }
    }

    fn numbers(&self) -> (u64, u64) {
        (self.succeeded.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed))
    }
}

fn duration() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "how long to race is the test command's choice, not configuration")]
    let seconds = std::env::var("RACE_SECS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}

fn prepare() -> Fixture {
    let fixture = Fixture::new();
    for place in ["swap", "plain", "deep/a/b"] {
        fixture.file(&format!("{place}/inside.txt"), "inside");
    }
    fixture.file("deep/inside.txt", "inside");
    fixture.file("leaf", "inside");
    fixture.link("swap-link", "../../outside");
    fixture.link("plain-link", fixture.outside("outside"));
    fixture.link("leaf-link", "../../outside/canary.txt");
    // While `b` lies at the top, a naive `..` climbs out of it one directory too far: to the canary `inside.txt`.
    fixture.link("climb", "deep/a/b/../../inside.txt");
    fixture.link("hop", "swap/../plain");
    fixture
}

/// One round of trades, each there and back.
fn trade(root: &Path) {
    let at = |name: &str| root.join(name);
    // A trade may fail because a writer is just there; the next one will not.
    let exchange = |one: &str, other: &str| {
        let _ = renameat_with(CWD, at(one), CWD, at(other), RenameFlags::EXCHANGE);
    };
    let rename = |from: &str, to: &str| {
        let _ = fs::rename(at(from), at(to));
    };
    for _ in 0..2 {
        exchange("swap", "swap-link");
        rename("plain", "plain-aside");
        rename("plain-link", "plain");
        rename("plain-aside", "plain-link");
        exchange("leaf", "leaf-link");
        rename("deep/a/b", "b");
        rename("b", "deep/a/b");
    }
    // A writer may have put its file over the link; the next round needs the link again.
    if !at("leaf-link").is_symlink() && fs::remove_file(at("leaf-link")).is_ok() {
        let _ = symlink("../../outside/canary.txt", at("leaf-link"));
    }
}

fn read(fixture: &Fixture, tally: &Tally, round: u64) {
    let paths = ["swap/inside.txt", "plain/inside.txt", "leaf", "climb", "hop/inside.txt", "swap-link/inside.txt"];
    let path = paths[usize::try_from(round).unwrap() % paths.len()];
    if let Some(read) = tally.count(fixture.workspace.read(path, 1_000)) {
        assert_eq!(read.bytes, INSIDE, "{path} was read from outside");
    }
}

fn write(fixture: &Fixture, tally: &Tally, round: u64) {
    let slot = round % 20;
    let path = match round % 5 {
        0 => format!("swap/written-{slot}"),
        1 => format!("plain/written-{slot}"),
        2 => format!("swap/new-{round}/deep/written"),
        3 => format!("hop/new-{slot}/written"),
        _ => "leaf".to_owned(),
    };
    tally.count(fixture.workspace.write(&path, INSIDE));
}

fn list(fixture: &Fixture, tally: &Tally, round: u64) {
    let path = ["swap", "plain", "hop", "swap-link", "deep/a/b"][usize::try_from(round).unwrap() % 5];
    if let Some(listing) = tally.count(fixture.workspace.list(path, 100_000)) {
        let is_outside = listing.entries.iter().any(|entry| entry.name == CANARY_NAME);
        assert!(!is_outside, "{path} was listed from outside");
    }
}

#[test]
fn renaming_under_our_feet_never_leads_outside() {
    let fixture = prepare();
    let [reads, writes, lists] = [Tally::default(), Tally::default(), Tally::default()];
    let trades = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let until_over = |work: &dyn Fn(u64)| (0..).take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(work);

    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| until_over(&|round| read(&fixture, &reads, round)));
        }
        scope.spawn(|| until_over(&|round| write(&fixture, &writes, round)));
        scope.spawn(|| until_over(&|round| list(&fixture, &lists, round)));
        let started = Instant::now();
        while started.elapsed() < duration() {
            trade(&fixture.root);
            trades.fetch_add(1, Ordering::Relaxed);
        }
        is_over.store(true, Ordering::Relaxed);
    });

    fixture.assert_outside_unchanged();
    println!(
        "{trades:?} rounds; reads {:?}, writes {:?}, lists {:?}",
        reads.numbers(),
        writes.numbers(),
        lists.numbers()
    );
    for (name, tally) in [("reads", reads), ("writes", writes), ("lists", lists)] {
        let (succeeded, refused) = tally.numbers();
        assert!(
            succeeded > 0 && refused > 0,
            "{name}: {succeeded} succeeded, {refused} were refused: no race took place"
        );
    }
}
