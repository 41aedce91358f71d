//! The official conformance suite, run against a server, or a client. `-o DIR` gets one directory per scenario,
//! `server-SCENARIO-TIME` or `SCENARIO-TIME`, with a `checks.json`: a list of `{id, name, description, status, errorMessage?, details?}`,
//! where a status is SUCCESS, FAILURE, WARNING, SKIPPED or INFO. A scenario is good when it has checks that succeeded
//! and none that ended otherwise: the suite itself lets warnings, skipped checks and scenarios without checks pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::process;
use crate::support::binary::Ran;

/// `-2026-11-15T23-53-51-319Z` behind the scenario's name.
const TIME_LENGTH: usize = 25;
/// Scenarios of the extension for tasks, which the suite does not score.
const EXTENSION: &str = "tasks-";

/// What the suite found.
#[derive(Debug)]
pub(crate) struct Conformance {
    ran: Ran,
    /// The checks of each scenario.
    scenarios: BTreeMap<String, Vec<Check>>,
}

/// One check of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    id: String,
    name: String,
    status: String,
    message: String,
}

impl Conformance {
    /// Writes down what was found, for the page about conformance. `about` says what was examined.
    pub(crate) fn recorded(self, about: &str) -> Self {
        let (mut passed, mut failed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for (name, checks) in &self.scenarios {
            let why = |status: &str| -> Vec<&str> {
                let with = |check: &&Check| check.status == status && !check.message.is_empty();
                checks.iter().filter(with).map(|check| check.message.as_str()).collect()
            };
            if checks.iter().all(|check| check.status == "SKIPPED") {
                skipped.push(json!({ "name": name, "why": why("SKIPPED") }));
            } else if self.wrong(name).is_none() {
                passed.push(name);
            } else {
                let why = [why("FAILURE"), why("WARNING"), why("SKIPPED")].concat();
                failed.push(json!({ "name": name, "why": why }));
            }
        }
        let record = json!({ "about": about, "passed": passed, "failed": failed, "skipped": skipped });
        let directory = super::workspace().join("target/conformance");
        std::fs::create_dir_all(&directory).unwrap();
        let name: String = about.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        std::fs::write(directory.join(format!("{name}.json")), record.to_string()).unwrap();
        self
    }

    /// These scenarios ran and no others, and all of them are good.
    #[track_caller]
    pub(crate) fn assert_passed(&self, expected: &[&[&str]]) {
        self.assert_passed_but(&[], expected);
        assert_eq!(self.ran.code, 0, "{:?}", self.ran);
    }

    /// These scenarios ran and no others, and all but some of them are good.
    #[track_caller]
    pub(crate) fn assert_passed_but(&self, excepted: &[&str], expected: &[&[&str]]) {
        let expected: BTreeSet<&str> = expected.iter().flat_map(|names| names.iter().copied()).collect();
        let ran = self.scenarios.keys().map(String::as_str).filter(|name| !name.starts_with(EXTENSION));
        assert_eq!(ran.collect::<BTreeSet<_>>(), expected, "{:?}", self.ran);
        let judged = expected.iter().filter(|name| !excepted.contains(name));
        let wrong: BTreeMap<_, _> = judged.filter_map(|name| self.wrong(name)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{:?}", self.ran);
    }

    /// These scenarios of the extension for tasks ran, and all of them are good. The suite skips the others.
    #[track_caller]
    pub(crate) fn assert_tasks_passed(&self, expected: &[&str]) {
        let ran = self.scenarios.iter().filter(|(name, _)| name.starts_with(EXTENSION));
        let is_skipped = |checks: &[Check]| checks.iter().all(|check| check.status == "SKIPPED");
        let ran = ran.filter(|(_, checks)| !is_skipped(checks)).map(|(name, _)| name.as_str());
        assert_eq!(ran.collect::<BTreeSet<_>>(), expected.iter().copied().collect(), "{:?}", self.ran);
        let wrong: BTreeMap<_, _> = expected.iter().filter_map(|name| self.wrong(name)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{:?}", self.ran);
    }

    /// The same without these checks, as far as they were skipped.
    pub(crate) fn without_skipped(mut self, names: &[&str]) -> Self {
        let is_left_out = |check: &Check| check.status == "SKIPPED" && names.contains(&check.name.as_str());
        self.scenarios.values_mut().for_each(|checks| checks.retain(|check| !is_left_out(check)));
        self
    }

    /// The scenarios that are good, without those of the extension.
    pub(crate) fn good(&self) -> BTreeSet<String> {
        let scored = self.scenarios.keys().filter(|name| !name.starts_with(EXTENSION));
        scored.filter(|name| self.wrong(name).is_none()).cloned().collect()
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

/// Runs the suite, such as with `["--requirements", "2025-11-25"]`, which is its scored set for a revision.
pub(crate) fn conformance(url: &str, arguments: &[&str]) -> Conformance {
    let output = tempfile::tempdir().unwrap();
    let results = output.path().join("results");
    let suite = process::installed("node/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = process::node(&suite);
    command.args(["server", "--url", url]).args(arguments).arg("-o").arg(&results);
    let ran = process::run(command);
    Conformance { scenarios: scenarios(&results, "server-"), ran }
}

/// Runs these scenarios of the suite against a client, which it starts once for each. One after the other: some look at
/// the clock. The first that fails is the last.
pub(crate) fn client_conformance(client: &Path, revision: &str, names: &[&str]) -> Conformance {
    let output = tempfile::tempdir().unwrap();
    let results = output.path().join("results");
    let suite = process::installed("node/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let run = |name: &&str| {
        let mut command = process::node(&suite);
        command
            .arg("client")
            .arg("--command")
            .arg(client)
            .args(["--scenario", name, "--spec-version", revision]);
        command.arg("-o").arg(&results);
        process::run(command)
    };
    let mut ran = run(&names[0]);
    for name in &names[1..] {
        if ran.code == 0 {
            ran = run(name);
        }
    }
    Conformance { scenarios: scenarios(&results, ""), ran }
}

fn scenarios(results: &Path, prefix: &str) -> BTreeMap<String, Vec<Check>> {
    let Ok(entries) = std::fs::read_dir(results) else { return BTreeMap::new() };
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = scenario_name(path.file_name()?.to_str()?, prefix)?.to_owned();
        let checks: Value = serde_json::from_slice(&std::fs::read(path.join("checks.json")).unwrap()).unwrap();
        Some((name, checks.as_array()?.iter().map(check).collect()))
    };
    entries.filter_map(read).collect()
}

fn scenario_name<'a>(directory: &'a str, prefix: &str) -> Option<&'a str> {
    let named = directory.strip_prefix(prefix)?;
    named.get(..named.len().checked_sub(TIME_LENGTH)?)
}

fn check(json: &Value) -> Check {
    let text = |member: &str| json[member].as_str().unwrap_or_default().to_owned();
    Check { id: text("id"), name: text("name"), status: text("status"), message: text("errorMessage") }
}
