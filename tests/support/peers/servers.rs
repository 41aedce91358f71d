//! Real servers for our client to meet: small ones on the SDKs, and the reference servers from npm. Over stdio the
//! client starts them itself, so it gets a command; over HTTP they run here until the test ends.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::process;

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);
const KNOCK_EVERY: Duration = Duration::from_millis(20);
const REFERENCE: &str = "node/node_modules/@modelcontextprotocol";

/// A server that we have. The first two have the tools `echo`, `add_numbers`, `pixel`, `beep`, `where`, `fail`, `slow`
/// and `favourite`, the prompt `greeting` and the resource `peer://note`, and some of what the conformance suite calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerServer {
    /// The official Python SDK; both eras.
    PythonMcp,
    /// fastmcp; both eras, but `favourite` can ask only in the legacy one.
    FastMcp,
    /// fastmcp with `research`, which is a task or nothing; HTTP only.
    FastMcpTasks,
    /// The reference server; legacy only.
    Everything,
    /// `Everything` on the old transport, at `/sse`.
    EverythingSse,
    /// Files below the directories that it is given; stdio only.
    Filesystem,
    /// A graph of knowledge; stdio only.
    Memory,
    /// rmcp with `add_numbers`; HTTP only, without sessions.
    Rmcp,
}

impl PeerServer {
    /// The command for a client that starts its server.
    pub(crate) fn stdio(self) -> Vec<String> {
        words(&self.command(None))
    }

    /// Starts it on a free port.
    pub(crate) fn http(self) -> RealServer {
        // Somebody else may take the port before the server does; then the server ends, and the next try has another.
        (0..3)
            .find_map(|_| self.on_port(free_port()))
            .unwrap_or_else(|| panic!("{self:?} does not start"))
    }

    /// Starts it again where it was.
    pub(crate) fn http_at(self, address: SocketAddr) -> RealServer {
        self.on_port(address).unwrap_or_else(|| panic!("{self:?} does not start at {address}"))
    }

    fn on_port(self, address: SocketAddr) -> Option<RealServer> {
        let home = tempfile::tempdir().unwrap();
        let mut command = self.command(Some(address.port()));
        command.env("HOME", home.path()).current_dir(home.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let path = if self == Self::EverythingSse { "sse" } else { "mcp" };
        let mut server = RealServer { child, address, path, home };
        server.wait_until_up().then_some(server)
    }

    fn command(self, port: Option<u16>) -> Command {
        let port = port.map(|port| port.to_string());
        let reference = |name: &str| process::node(&process::installed(&format!("{REFERENCE}/{name}/dist/index.js")));
        let mut command = match self {
            Self::PythonMcp => process::python("python-mcp", "server_mcp.py"),
            Self::FastMcp => process::python("python-fastmcp", "server_fastmcp.py"),
            Self::FastMcpTasks => process::python("python-fastmcp", "server_fastmcp_tasks.py"),
            Self::Everything | Self::EverythingSse => reference("server-everything"),
            Self::Filesystem => reference("server-filesystem"),
            Self::Memory => reference("server-memory"),
            Self::Rmcp => process::command(&process::installed("rust/release/server_rmcp")),
        };
        match (self, &port) {
            (Self::PythonMcp | Self::FastMcp | Self::FastMcpTasks, Some(port)) => command.args(["http", port]),
            (Self::Everything, Some(port)) => command.arg("streamableHttp").env("PORT", port),
            (Self::EverythingSse, Some(port)) => command.arg("sse").env("PORT", port),
            (Self::Rmcp, Some(port)) => command.arg(port),
            (Self::PythonMcp | Self::FastMcp | Self::Everything, None) => command.arg("stdio"),
            (Self::Filesystem | Self::Memory, None) => &mut command,
            (Self::EverythingSse | Self::FastMcpTasks | Self::Rmcp, None) => panic!("{self:?} speaks HTTP only"),
            (Self::Filesystem | Self::Memory, Some(_)) => panic!("{self:?} speaks on stdio only"),
        };
        command
    }
}

/// A server that is killed when its test ends.
pub(crate) struct RealServer {
    child: Child,
    address: SocketAddr,
    path: &'static str,
    home: tempfile::TempDir,
}

impl RealServer {
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.path)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it listens; `false` when it ended instead.
    #[expect(clippy::disallowed_methods, reason = "the test knocks at the server it started")]
    fn wait_until_up(&mut self) -> bool {
        let begun = Instant::now();
        while std::net::TcpStream::connect(self.address).is_err() {
            if self.child.try_wait().unwrap().is_some() || begun.elapsed() > PATIENCE {
                return false;
            }
            // Rather than turning round at once: the server needs the processor to start.
            std::thread::park_timeout(KNOCK_EVERY);
        }
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        process::kill(self.child.id(), self.home.path());
        let _ = self.child.wait();
    }
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn words(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_str().unwrap().to_owned()).collect()
}
