//! A server whose files are written while it runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use crate::support::binary::{Daemon, Openfang, Ran};

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);

/// A configuration in which every key has its default.
pub(super) const DEFAULTS: &str = "# nothing is set\n";
/// A configuration in which nothing is looked at unless somebody asks.
pub(super) const UNWATCHED: &str = "[reload]\nwatch = false\n";

/// A home with this configuration, and a server on it.
pub(super) fn running(config: &str) -> (Openfang, Daemon) {
    let openfang = Openfang::new();
    openfang.write("config.toml", config);
    add_agent(&openfang, "starter", "get_greeting");
    let daemon = openfang.start();
    (openfang, daemon)
}

/// Writes an agent without a model.
pub(super) fn add_agent(openfang: &Openfang, name: &str, tool: &str) {
    replace(openfang, &format!("agents/{name}/agent.toml"), &agent(name, tool));
}

pub(super) fn agent(name: &str, tool: &str) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"calls {tool}\"\ndefault_tool = \"{tool}\"\n\
         [model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"{tool}\"]\n"
    )
}

pub(super) fn remove_agent(openfang: &Openfang, name: &str) {
    std::fs::remove_dir_all(openfang.home().join("agents").join(name)).unwrap();
}

/// Writes a file in one step, as an editor does.
pub(super) fn replace(openfang: &Openfang, path: &str, text: &str) {
    openfang.write(&format!("{path}.new"), text);
    std::fs::rename(openfang.home().join(format!("{path}.new")), openfang.home().join(path)).unwrap();
}

/// Takes over the files, and says what that changed.
pub(super) fn reload(openfang: &Openfang) -> Value {
    let ran = openfang.run(&["reload", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

/// What `status` says of the settings.
pub(super) fn settings(openfang: &Openfang) -> Value {
    openfang.run(&["status", "--json"]).json()["settings"].clone()
}

/// Waits until something is so.
pub(super) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::yield_now();
    }
}

/// The operator of a server.
pub(super) fn operator(openfang: &Openfang, daemon: &Daemon) -> Client {
    let file = std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    daemon.client().bearer(file["token"].as_str().unwrap())
}

/// The names of the agents there are.
pub(super) fn agents(openfang: &Openfang) -> Vec<String> {
    let listed: Ran = openfang.run(&["agent", "list", "--json"]);
    let listed = listed.json();
    let names = listed["agents"].as_array().unwrap().iter();
    names.map(|agent| agent["name"].as_str().unwrap().to_owned()).collect()
}

/// An entry for a server that writes a line to a file whenever it starts, and the file.
pub(super) fn counted_server(openfang: &Openfang, name: &str, timeout: u32) -> (String, PathBuf) {
    let starts = openfang.scratch(&format!("{name}.starts"));
    let quick = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/gateway/servers/quick.sh");
    let quick = quick.canonicalize().unwrap();
    let script = format!("echo started >> {}; exec sh {}", starts.display(), quick.display());
    let entry = format!(
        "[[mcp_servers]]\nname = \"{name}\"\ntimeout_secs = {timeout}\n\
         [mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"sh\"\nargs = [\"-c\", {}]\n",
        json!(script)
    );
    (entry, starts)
}

/// How often a counted server was started.
pub(super) fn starts(file: &PathBuf) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}
