//! Real MCP servers, and real MCP clients, driven by the scripts in `tests/peers`, each on its own SDK. All clients take
//! the same job and answer with one JSON object: `sdk, protocolVersion, serverName, tools, prompts, resources, calls,
//! gotPrompts, read, elicitations`. A call is `{name, content, structuredContent, isError, progress}`, or has
//! `error: {code, message}` or `cancelled: true` instead. Every process has an empty environment, a home of its own, and
//! a deadline.
//!
//! `Drive::run` blocks: where the server is in the same process, call it by `tokio::task::spawn_blocking`.

mod a2a;
mod agents;
mod conformance;
mod inspector;
pub(crate) mod models;
pub(crate) mod openapi;
mod oversized;
mod process;
mod servers;
mod task_client;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) use a2a::{A2aClient, Binding, judged10};
pub(crate) use agents::{A2aAgent, RunningAgent};
pub(crate) use conformance::{Conformance, client_conformance, conformance};
pub(crate) use inspector::inspector;
pub(crate) use oversized::oversized;
use serde_json::Value;
pub(crate) use servers::PeerServer;
pub(crate) use task_client::{says, with_skills, with_tasks};

/// An SDK with which we have a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The official Python SDK.
    PythonMcp,
    /// fastmcp.
    FastMcp,
    /// The TypeScript SDK 1.x, which knows the legacy era only.
    Sdk1,
    /// The TypeScript client 2.x.
    Sdk2,
    /// rmcp, which does not know the old SSE transport.
    Rmcp,
}

/// How a client finds the protocol version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Asks by `server/discover` and falls back to `initialize`; a client that knows one era only speaks that.
    Auto,
    /// `initialize`.
    Legacy,
    /// 2026-07-28 and nothing else.
    Modern,
}

impl Peer {
    /// A job over Streamable HTTP.
    pub(crate) fn http(self, url: &str) -> Drive {
        Drive::new(self, ["--http", url])
    }

    /// A job over the old HTTP+SSE transport.
    pub(crate) fn sse(self, url: &str) -> Drive {
        Drive::new(self, ["--sse", url])
    }

    /// A job with a server that the client starts.
    pub(crate) fn stdio(self, command: &[&str]) -> Drive {
        let mut drive = Drive::new(self, []);
        drive.server = command.iter().map(|word| (*word).to_owned()).collect();
        drive
    }

    fn command(self) -> Command {
        match self {
            Self::PythonMcp => process::python("python-mcp", "client_mcp.py"),
            Self::FastMcp => process::python("python-fastmcp", "client_fastmcp.py"),
            Self::Sdk1 => process::driver("client_sdk1.mjs"),
            Self::Sdk2 => process::driver("client_sdk2.mjs"),
            Self::Rmcp => process::command(&process::installed("rust/release/client_rmcp")),
        }
    }
}

/// A job for a client.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    peer: Peer,
    arguments: Vec<String>,
    server: Vec<String>,
}

impl Drive {
    fn new<const N: usize>(peer: Peer, arguments: [&str; N]) -> Self {
        Self { peer, arguments: Vec::new(), server: Vec::new() }.with(&arguments)
    }

    fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|word| (*word).to_owned()));
        self
    }

    pub(crate) fn era(self, era: Era) -> Self {
        let name = match era {
            Era::Auto => "auto",
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        self.with(&["--era", name])
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.with(&["--header", &format!("Authorization: Bearer {token}")])
    }

    /// A variable for the server that the client starts.
    pub(crate) fn env(self, key: &str, value: &str) -> Self {
        self.with(&["--env", &format!("{key}={value}")])
    }

    pub(crate) fn call(self, tool: &str, arguments: &Value) -> Self {
        self.with(&["--call", tool, &arguments.to_string()])
    }

    pub(crate) fn prompt(self, name: &str, arguments: &Value) -> Self {
        self.with(&["--prompt", name, &arguments.to_string()])
    }

    pub(crate) fn read(self, uri: &str) -> Self {
        self.with(&["--read", uri])
    }

    /// Declares that the user can be asked, and what the user answers.
    pub(crate) fn elicit(self, answer: &Value) -> Self {
        self.with(&["--elicit", &answer.to_string()])
    }

    /// Asks for progress on every call. Do not count it exactly: the TypeScript SDKs and rmcp may lose a notification
    /// that arrives together with the result, and TypeScript 2 counts its own rounds of input as progress.
    pub(crate) fn progress(self) -> Self {
        self.with(&["--progress"])
    }

    /// Gives up every call that takes longer.
    pub(crate) fn cancel_after(self, time: Duration) -> Self {
        self.with(&["--cancel-after", &time.as_millis().to_string()])
    }

    /// What the client saw.
    pub(crate) fn run(&self) -> Value {
        let ran = process::run(self.command());
        assert_eq!(ran.code, 0, "{self:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.json()
    }

    /// What the client says when it cannot do the job at all.
    pub(crate) fn fails(&self) -> String {
        let ran = process::run(self.command());
        assert_eq!(ran.code, 1, "{self:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stderr
    }

    fn command(&self) -> Command {
        let mut command = self.peer.command();
        command.args(&self.arguments);
        if !self.server.is_empty() {
            command.arg("--stdio").args(&self.server);
        }
        command
    }
}

/// The workspace, from the crate that the end-to-end tests are built in.
fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
