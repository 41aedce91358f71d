//! Every `sh` block of the README and of all pages in `docs/` runs. Each page has an empty machine of its own, where its blocks run
//! in order.
//!
//! `# prints TEXT` after a command is checked. A block `sh no-run: REASON` is not run. A block with `openfang start` alone is the
//! daemon, which runs until the end of the page or the next such block.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::fixture::{Machine, gather};
use crate::support::binary::Ran;

/// Fewer blocks than this mean that pages or blocks are not found.
const MIN_BLOCKS: usize = 60;
const MIN_REASON: usize = 8;
const PATIENCE: Duration = Duration::from_secs(30);

/// A shell on the machine of a new user.
struct Shell<'a> {
    machine: &'a Machine,
    port: u16,
}

impl Shell<'_> {
    #[expect(clippy::disallowed_methods, reason = "the blocks are for a shell")]
    fn command(&self, script: &str) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_openfang")).parent().unwrap();
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", &script.replace("50051", &self.port.to_string())]);
        command
            .env_clear()
            .env("HOME", self.machine.user())
            .env("OPENFANG_API_LISTEN", format!("127.0.0.1:{}", self.port))
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .current_dir(self.machine.user());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, script: &str) -> Ran {
        Ran::of(self.command(script).output().unwrap())
    }

    fn start(&self) -> Daemon {
        let daemon = Daemon(self.command("exec openfang start").spawn().unwrap());
        let begun = Instant::now();
        while self.run("openfang status").code != 0 {
            assert!(begun.elapsed() < PATIENCE, "the daemon does not start");
        }
        daemon
    }
}

/// The daemon of a page.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// README.md and every page below `docs/`, by path.
fn pages() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = BTreeMap::new();
    gather(&root.join("docs"), &mut files);
    files.retain(|path, _| path.extension().is_some_and(|ending| ending == "md"));
    let readme = root.join("README.md");
    files.insert(readme.clone(), std::fs::read(&readme).unwrap());
    let named = files.into_iter().map(|(path, text)| {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        (name, String::from_utf8(text).unwrap())
    });
    named.collect()
}

/// The `sh` blocks of a page. A block that is not run must have a reason.
fn blocks(page: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for piece in page.split("```sh").skip(1) {
        let (info, rest) = piece.split_once('\n').ok_or("a block without an end")?;
        let (block, _) = rest.split_once("```").ok_or("a block without an end")?;
        let info = info.trim();
        match info.strip_prefix("no-run") {
            Some(reason) => {
                let reason = reason.strip_prefix(':').unwrap_or_default().trim();
                if reason.len() < MIN_REASON {
                    return Err(format!("a block that is not run needs a reason: {block}"));
                }
            }
            None if info.is_empty() => found.push(block.to_owned()),
            None => return Err(format!("an unknown mark `{info}` on {block}")),
        }
    }
    Ok(found)
}

/// Runs the blocks of a page on an empty machine and returns their number.
fn run(name: &str, page: &str) -> usize {
    let machine = Machine::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let shell = Shell { machine: &machine, port };
    let mut daemon = None;
    let blocks = blocks(page).unwrap_or_else(|why| panic!("{name}: {why}"));
    for block in &blocks {
        if block.trim() == "openfang start" {
            daemon = Some(shell.start());
            continue;
        }
        let ran = shell.run(block);
        assert_eq!(ran.code, 0, "{name}: {block}\n{ran:?}");
        for line in block.lines().filter(|line| line.contains("# prints ")) {
            let (_, expected) = line.split_once("# prints ").unwrap();
            assert!(ran.stdout.contains(expected), "{name}: {line}\n{ran:?}");
        }
    }
    drop(daemon);
    blocks.len()
}

#[test]
fn every_block_of_every_page_runs_in_order_on_an_empty_machine() {
    let ran: usize = pages().iter().map(|(name, page)| run(name, page)).sum();

    assert!(ran > MIN_BLOCKS, "{ran}");
}

#[test]
fn a_block_that_is_not_run_needs_a_reason() {
    let marked = |mark: &str| blocks(&format!("```sh {mark}\nfalse\n```\n"));

    assert_eq!(marked("no-run: needs a container runtime"), Ok(Vec::new()));
    for mark in ["no-run", "no-run:", "no-run: why", "norun: needs a container runtime"] {
        assert!(marked(mark).is_err(), "{mark}");
    }
}
