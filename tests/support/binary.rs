//! The real binary, in a home of its own and with an empty environment.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use openfang_testkit::http::Client;
use serde_json::Value;

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(30);

/// The binary with a home.
pub(crate) struct Openfang {
    directory: tempfile::TempDir,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

impl Openfang {
    /// An empty home; it does not even exist yet.
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn home(&self) -> std::path::PathBuf {
        self.directory.path().join("home")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the binary under test")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openfang"));
        command
            .args(arguments)
            .env_clear()
            .env("OPENFANG_HOME", self.home())
            .env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs a command with one more variable.
    pub(crate) fn run_with(&self, variable: (&str, &str), arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).env(variable.0, variable.1).output().unwrap())
    }

    /// Starts a server on a free port and waits until it answers.
    pub(crate) fn start(&self) -> Daemon {
        let child = self.command(&["start", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut daemon = Daemon { child: Some(child), file: self.home().join("daemon.json"), address: None };
        daemon.wait_until_up();
        daemon
    }
}

/// A server that is killed when its test ends.
pub(crate) struct Daemon {
    child: Option<Child>,
    file: std::path::PathBuf,
    address: Option<std::net::SocketAddr>,
}

impl Daemon {
    fn wait_until_up(&mut self) {
        let pid = self.pid();
        let begun = Instant::now();
        loop {
            match address_in(&self.file, pid) {
                Some(address) if std::net::TcpStream::connect(address).is_ok() => {
                    self.address = Some(address);
                    return;
                }
                _ if begun.elapsed() > PATIENCE => panic!("the server did not start: {:?}", self.wait()),
                _ => std::thread::yield_now(),
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.address.unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address())
    }

    /// Sends a signal by name, such as TERM.
    #[expect(clippy::disallowed_methods, reason = "kill is the plainest way to send a signal")]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> Ran {
        Ran::of(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn address_in(file: &Path, pid: u32) -> Option<std::net::SocketAddr> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    (json["pid"] == pid).then(|| json["address"].as_str()?.parse().ok())?
}
