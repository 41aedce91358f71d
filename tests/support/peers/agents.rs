//! Real A2A agents for our client to meet, on the SDKs people use. All do the same with a text, as
//! `tests/peers/python/agent_a2a13.py` says. They run until the test ends.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::process;

/// An SDK with which we have an agent, in the ways that it can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aAgent {
    /// The official Python SDK with 1.0 only.
    Python13Strict,
    /// 1.0 and 0.3 on one endpoint.
    Python13Compat,
    /// Without streams.
    Python13Plain,
    Python13Rest,
    Python03,
    Python03Rest,
    Python03Plain,
    Python02,
    /// The official JavaScript SDK with 1.0 only.
    Js13Strict,
    Js13Compat,
    Js03,
    Js02,
    /// The official Rust SDK.
    Rust,
    /// fasta2a, whose streams do not carry results, and which makes a new task of every message.
    FastA2a,
    /// The Rust server that is measured against: no card, and every message makes the same task.
    RustServer,
}

/// An agent that runs.
pub(crate) struct RunningAgent {
    child: Child,
    address: String,
    kind: A2aAgent,
    home: tempfile::TempDir,
}

impl A2aAgent {
    pub(crate) fn start(self) -> RunningAgent {
        let home = tempfile::tempdir().unwrap();
        let mut command = self.command();
        command.env("HOME", home.path()).current_dir(home.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(!address.is_empty(), "{self:?} does not start");
        RunningAgent { child, address, kind: self, home }
    }

    /// Whether it can answer with a message, and goes on with a task that asked.
    pub(crate) const fn is_whole(self) -> bool {
        !matches!(self, Self::FastA2a | Self::RustServer)
    }

    fn command(self) -> Command {
        let python = |venv: &str, script: &str, mode: &str| {
            let mut command = process::python(venv, script);
            command.args(["0", mode]);
            command
        };
        let node = |version: &str, mode: &str| {
            let mut command = process::driver("agent_a2a.mjs");
            command.args(["0", version, mode]);
            command
        };
        let rust = |name: &str| {
            let mut command = process::command(&process::installed(&format!("rust/release/{name}")));
            command.arg("0");
            command
        };
        match self {
            Self::Python13Strict => python("python-a2a13", "agent_a2a13.py", "strict"),
            Self::Python13Compat => python("python-a2a13", "agent_a2a13.py", "compat"),
            Self::Python13Plain => python("python-a2a13", "agent_a2a13.py", "plain"),
            Self::Python13Rest => python("python-a2a13", "agent_a2a13.py", "rest"),
            Self::Python03 => python("python-a2a03", "agent_a2a0x.py", "jsonrpc"),
            Self::Python03Rest => python("python-a2a03", "agent_a2a0x.py", "rest"),
            Self::Python03Plain => python("python-a2a03", "agent_a2a0x.py", "plain"),
            Self::Python02 => python("python-a2a02", "agent_a2a0x.py", "jsonrpc"),
            Self::Js13Strict => node("13", "strict"),
            Self::Js13Compat => node("13", "compat"),
            Self::Js03 => node("03", ""),
            Self::Js02 => node("02", ""),
            Self::FastA2a => python("python-fasta2a", "agent_fasta2a.py", ""),
            Self::Rust => rust("agent_a2a_lf"),
            Self::RustServer => rust("server_a2a_lf"),
        }
    }
}

impl RunningAgent {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it has a list of tasks, if it speaks 1.0.
    pub(crate) const fn lists(&self) -> bool {
        !matches!(self.kind, A2aAgent::FastA2a)
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        process::kill(self.child.id(), self.home.path());
        let _ = self.child.wait();
    }
}
