//! The SDKs of model vendors, and a real model.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::process;

/// Asks a provider by the vendor's SDK, and returns what the SDK understood.
pub(crate) fn ask(wire: &str, url: &str) -> Value {
    let mut command = process::python("python-models", "client_models.py");
    command.args([wire, url]);
    let ran = process::run(command);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// What the vendors' types find wrong with requests, in order; null where nothing is.
pub(crate) fn validate(requests: &[Value]) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("requests");
    let mut file = File::create(&path).unwrap();
    for request in requests {
        writeln!(file, "{request}").unwrap();
    }
    let mut command = process::python("python-models", "validate_models.py");
    command.stdin(File::open(&path).unwrap());
    let ran = process::run(command);
    let judged = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"].clone());
    judged.collect()
}

/// llama.cpp's server with a small model.
pub(crate) struct LlamaServer {
    child: Child,
    address: String,
    home: tempfile::TempDir,
}

impl LlamaServer {
    /// Starts it, and waits until it listens.
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = process::python("python-xllamacpp", "server_llama.py");
        command.env("HOME", home.path()).current_dir(home.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(!address.trim().is_empty(), "the model server does not start");
        Self { child, address: address.trim().to_owned(), home }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        process::kill(self.child.id(), self.home.path());
        let _ = self.child.wait();
    }
}
