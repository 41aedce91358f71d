//! Every `sh` block of the README, and of pages that new users read, runs in order on an empty machine.
//!
//! `# prints TEXT` after a command is checked. A block `sh no-run: REASON` is not run. A block with `openfang start` alone is the
//! daemon, which runs until the end of the page.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::fixture::Machine;
use crate::support::binary::Ran;

const PAGES: [(&str, &str); 2] =
    [("README.md", include_str!("../../README.md")), ("docs/connect.md", include_str!("../../docs/connect.md"))];
const PATIENCE: Duration = Duration::from_secs(30);

/// A shell on the machine of a new user.
struct Shell<'a> {
    machine: &'a Machine,
    port: u16,
}

impl Shell<'_> {
    #[expect(clippy::disallowed_methods, reason = "the blocks are for a shell")]
    fn command(&self, script: &str) -> Command {
        let programs = std::path::Path::new(env!("CARGO_BIN_EXE_openfang")).parent().unwrap();
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

/// The `sh` blocks of a page. What is not run says why.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in page.split("```sh").skip(1) {
        let (info, rest) = piece.split_once('\n').unwrap();
        let (block, _) = rest.split_once("```").unwrap();
        match info.trim().strip_prefix("no-run:") {
            Some(reason) => assert!(reason.trim().len() > 8, "a block that is not run needs a reason: {block}"),
            None => {
                assert_eq!(info.trim(), "", "an unknown mark on {block}");
                found.push(block.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_block_of_the_readme_runs_in_order_on_an_empty_machine() {
    for (name, page) in PAGES {
        let machine = Machine::new();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let shell = Shell { machine: &machine, port };
        let mut daemon = None;
        let blocks = blocks(page);
        assert!(blocks.len() > 1, "{name}");
        for block in blocks {
            if block.trim() == "openfang start" {
                daemon = Some(shell.start());
                continue;
            }
            let ran = shell.run(&block);
            assert_eq!(ran.code, 0, "{name}: {block}\n{ran:?}");
            for line in block.lines().filter(|line| line.contains("# prints ")) {
                let (_, expected) = line.split_once("# prints ").unwrap();
                assert!(ran.stdout.contains(expected), "{name}: {line}\n{ran:?}");
            }
        }
        drop(daemon);
    }
}
