//! The real binary, in a home of its own and with an empty environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
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
    pub(crate) fn of(output: Output) -> Self {
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

    /// A place for a file beside the home.
    pub(crate) fn scratch(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
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

    /// Runs a command to its end, with this on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Starts a command to talk to, a line of JSON at a time.
    pub(crate) fn converse(&self, arguments: &[&str]) -> Conversation {
        let mut child = self.command(arguments).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let reader = BufReader::new(child.stdout.take().unwrap());
        Conversation { child, reader }
    }

    /// Starts a command, and leaves the rest to the test.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Starts a command on a terminal of its own; what it shows comes on standard output.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the binary under test")]
    pub(crate) fn on_terminal(&self, arguments: &str) -> Child {
        let line = format!("'{}' {arguments}", env!("CARGO_BIN_EXE_openfang"));
        let mut command = Command::new("script");
        command.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        command
            .env_clear()
            .env("OPENFANG_HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs a command with one more variable.
    pub(crate) fn run_with(&self, variable: (&str, &str), arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).env(variable.0, variable.1).output().unwrap())
    }

    /// Runs a command with more variables.
    pub(crate) fn run_with_all(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).envs(variables.iter().copied()).output().unwrap())
    }

    /// Starts a command that does its work in its own process, even while a server runs.
    pub(crate) fn in_process(&self, arguments: &[&str]) -> Running {
        Running { child: Some(self.command(&[&["--in-process"], arguments].concat()).spawn().unwrap()) }
    }

    /// Starts a server on a free port and waits until it answers.
    pub(crate) fn start(&self) -> Daemon {
        self.up(self.command(&START), self.home())
    }

    /// Starts a server with one more variable, unless that is refused; then says how the command ended.
    pub(crate) fn try_start(&self, variable: Option<(&str, &str)>) -> Result<Daemon, Ran> {
        let mut command = self.command(&START);
        command.envs(variable);
        let mut daemon =
            Daemon { child: Some(command.spawn().unwrap()), server: None, home: self.home(), address: None };
        if daemon.is_up() { Ok(daemon) } else { Err(daemon.wait()) }
    }

    /// Starts a server below another program, such as a tracer.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the binary under test")]
    pub(crate) fn start_under(&self, program: &[&str]) -> Daemon {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(env!("CARGO_BIN_EXE_openfang")).args(START);
        command.env_clear().env("OPENFANG_HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.up(command, self.home())
    }

    /// Starts a server whose home is on a file system of this size, in a mount namespace of its own.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the binary under test")]
    pub(crate) fn start_on_small_disk(&self, size: &str) -> Daemon {
        std::fs::create_dir_all(self.home()).unwrap();
        let home = self.home();
        let script = format!(
            "mount -t tmpfs -o size={size},mode=700 tmpfs '{home}' && exec '{binary}' start --listen 127.0.0.1:0",
            home = home.display(),
            binary = env!("CARGO_BIN_EXE_openfang"),
        );
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        command
            .env_clear()
            .env("OPENFANG_HOME", &home)
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut daemon =
            Daemon { child: Some(command.spawn().unwrap()), server: None, home: home.clone(), address: None };
        // The mount is seen through the process that made it.
        daemon.home = std::path::PathBuf::from(format!("/proc/{}/root{}", daemon.pid(), home.display()));
        daemon.wait_until_up();
        daemon
    }

    fn up(&self, mut command: Command, home: std::path::PathBuf) -> Daemon {
        let mut daemon = Daemon { child: Some(command.spawn().unwrap()), server: None, home, address: None };
        daemon.wait_until_up();
        daemon
    }
}

const START: [&str; 3] = ["start", "--listen", "127.0.0.1:0"];

/// A command to talk to; it is killed when its test ends.
pub(crate) struct Conversation {
    child: Child,
    reader: BufReader<ChildStdout>,
}

impl Conversation {
    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next line as it came, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.truncate(line.trim_end().len());
        line
    }

    pub(crate) fn next(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// The answer to an id, passing over everything else.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.answer(message["id"].as_i64().unwrap())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that is under way; it is killed when its test ends.
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    /// Waits for its end.
    pub(crate) fn finished(mut self) -> Ran {
        Ran::of(self.child.take().unwrap().wait_with_output().unwrap())
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A server that is killed when its test ends.
pub(crate) struct Daemon {
    child: Option<Child>,
    /// The server itself, where the child is a tracer around it.
    server: Option<u32>,
    home: std::path::PathBuf,
    address: Option<std::net::SocketAddr>,
}

impl Daemon {
    #[expect(clippy::disallowed_methods, reason = "the test knocks at the server it started")]
    fn wait_until_up(&mut self) {
        let begun = Instant::now();
        loop {
            match announced(&self.home.join("daemon.json")) {
                Some((pid, address)) if std::net::TcpStream::connect(address).is_ok() => {
                    (self.server, self.address) = (Some(pid), Some(address));
                    return;
                }
                _ if begun.elapsed() > PATIENCE => panic!("the server did not start: {:?}", self.wait()),
                _ => std::thread::yield_now(),
            }
        }
    }

    /// Waits until it answers, or has ended.
    #[expect(clippy::disallowed_methods, reason = "the test knocks at the server it started")]
    fn is_up(&mut self) -> bool {
        let child = self.child.as_mut().unwrap();
        loop {
            match announced(&self.home.join("daemon.json")) {
                Some((pid, address)) if pid == child.id() && std::net::TcpStream::connect(address).is_ok() => {
                    (self.server, self.address) = (Some(pid), Some(address));
                    return true;
                }
                _ if child.try_wait().unwrap().is_some() => return false,
                _ => std::thread::yield_now(),
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.unwrap_or_else(|| self.child.as_ref().unwrap().id())
    }

    /// The home as this process can see it.
    pub(crate) fn small_disk(&self) -> std::path::PathBuf {
        self.home.clone()
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
        if self.child.is_some() && self.server.is_some() {
            self.signal("KILL");
        }
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The server and where it listens. A file that a killed one left behind leads nowhere, so connecting decides.
fn announced(file: &Path) -> Option<(u32, std::net::SocketAddr)> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    Some((u32::try_from(json["pid"].as_u64()?).ok()?, json["address"].as_str()?.parse().ok()?))
}
