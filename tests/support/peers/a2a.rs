//! Real A2A clients. All take the same job, written down in `tests/peers/python/a2a_driver.py`, and print a line of JSON
//! for each operation that they have; and the official types of 1.0 as a judge of what we say.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::process;
use crate::support::binary::Ran;

/// An SDK with which we have a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aClient {
    /// The official Python SDK.
    Python13,
    Python03,
    Python02,
    /// The official JavaScript SDK.
    Js13,
    Js03,
    Js02,
    /// The official Rust client, which knows 1.0 only.
    Rust,
}

/// How a client talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    HttpJson,
}

impl A2aClient {
    /// A job with the agent whose card is below this address.
    pub(crate) fn at(self, base: &str, binding: Binding) -> A2aJob {
        let binding = match binding {
            Binding::JsonRpc => "JSONRPC",
            Binding::HttpJson => "HTTP+JSON",
        };
        A2aJob { client: self, arguments: vec![base.to_owned(), binding.to_owned()], variables: Vec::new() }
    }

    /// Whether it speaks 1.0.
    pub(crate) const fn is_modern(self) -> bool {
        match self {
            Self::Python13 | Self::Js13 | Self::Rust => true,
            Self::Python03 | Self::Python02 | Self::Js03 | Self::Js02 => false,
        }
    }

    fn command(self) -> Command {
        match self {
            Self::Python13 => process::python("python-a2a13", "client_a2a13.py"),
            Self::Python03 => process::python("python-a2a03", "client_a2a03.py"),
            Self::Python02 => process::python("python-a2a02", "client_a2a02.py"),
            Self::Js13 => process::driver("client_a2a13.mjs"),
            Self::Js03 => process::driver("client_a2a03.mjs"),
            Self::Js02 => process::driver("client_a2a02.mjs"),
            Self::Rust => process::command(&process::installed("rust/release/client_a2a")),
        }
    }
}

/// A job for a client.
#[derive(Debug, Clone)]
pub(crate) struct A2aJob {
    client: A2aClient,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl A2aJob {
    /// The key that the client has.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.variables.push(("A2A_KEY", key.to_owned()));
        self
    }

    /// The public key with which cards are signed.
    pub(crate) fn card_key(mut self, file: &Path) -> Self {
        self.variables.push(("A2A_JWK", file.to_str().unwrap().to_owned()));
        self
    }

    /// Only these operations.
    pub(crate) fn only(mut self, operations: &[&str]) -> Self {
        self.arguments.push(operations.join(","));
        self
    }

    /// What came of each operation, by its name. All of them came to an answer that the SDK could read.
    pub(crate) fn run(&self) -> BTreeMap<String, Value> {
        let mut command = self.client.command();
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        let ran = process::run(command);
        assert_eq!(ran.code, 0, "{self:?}\n{}\n{}", ran.stdout, ran.stderr);
        let failed: Vec<&str> = ran.stdout.lines().filter(|line| lined(line)["ok"] != true).collect();
        assert!(failed.is_empty(), "{self:?}\n{}\n{}", failed.join("\n"), ran.stderr);
        ran.stdout
            .lines()
            .map(lined)
            .map(|line| (line["op"].as_str().unwrap().to_owned(), line))
            .collect()
    }
}

/// What the official types of 1.0 say of these values, each with the name of its type: nothing, or what is wrong.
pub(crate) fn judged10<'a>(said: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Vec<Option<String>> {
    let mut command = process::python("python-a2a13", "validate_a2a13.py");
    let mut lines = tempfile::NamedTempFile::new().unwrap();
    for (kind, value) in said {
        writeln!(lines, "{}", json!({"type": kind, "value": value})).unwrap();
    }
    command.stdin(File::open(lines.path()).unwrap());
    let Ran { code, stdout, stderr } = process::run(command);
    assert_eq!(code, 0, "{stderr}");
    stdout.lines().map(|line| lined(line)["error"].as_str().map(str::to_owned)).collect()
}

fn lined(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}
