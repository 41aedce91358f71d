//! The official conformance suite, run against a server. `-o DIR` gets one directory per scenario,
//! `server-SCENARIO-TIME`, with a `checks.json`: a list of `{id, name, description, status, errorMessage?, details?}`,
//! where a status is SUCCESS, FAILURE, WARNING, SKIPPED or INFO. A scenario is good without FAILURE and WARNING. The
//! suite ends with 0, or with 1 when a scenario fails that is not expected to, or passes that is expected to fail.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::process;
use crate::support::binary::Ran;

/// `-2026-11-15T23-53-51-319Z` behind the scenario's name.
const TIME_LENGTH: usize = 25;

/// What the suite found.
#[derive(Debug)]
pub(crate) struct Conformance {
    pub(crate) ran: Ran,
    /// The checks of each scenario.
    pub(crate) scenarios: BTreeMap<String, Vec<Check>>,
}

/// One check of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) message: String,
}

impl Conformance {
    /// The scenarios that are not good, each with what is wrong, as the suite puts it.
    pub(crate) fn failures(&self) -> BTreeMap<&str, Vec<&Check>> {
        let bad = |check: &&Check| matches!(check.status.as_str(), "FAILURE" | "WARNING");
        let scenarios = self.scenarios.iter();
        let judged = scenarios.map(|(name, checks)| (name.as_str(), checks.iter().filter(bad).collect::<Vec<_>>()));
        judged.filter(|(_, bad)| !bad.is_empty()).collect()
    }

    /// Everything is as expected, or the test shows what is not.
    #[track_caller]
    pub(crate) fn assert_as_expected(&self) {
        assert!(!self.scenarios.is_empty(), "the suite ran nothing: {:?}", self.ran);
        assert_eq!(self.ran.code, 0, "{:#?}\n{}", self.failures(), self.ran.stdout);
    }
}

/// Runs the suite, such as with `["--requirements", "2025-11-25"]`, which is its scored set for a revision. An expected
/// failure is a scenario, or `scenario:check-id`; one that does not happen is a failure too.
pub(crate) fn conformance(url: &str, arguments: &[&str], expected_failures: &[&str]) -> Conformance {
    let output = tempfile::tempdir().unwrap();
    let results = output.path().join("results");
    let expected = output.path().join("expected-failures.yml");
    // JSON is YAML.
    std::fs::write(&expected, serde_json::json!({ "server": expected_failures }).to_string()).unwrap();
    let suite = process::installed("node/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = process::node(&suite);
    command.args(["server", "--url", url]).args(arguments).arg("-o").arg(&results);
    command.arg("--expected-failures").arg(&expected);
    let ran = process::run(command);
    Conformance { scenarios: scenarios(&results), ran }
}

fn scenarios(results: &Path) -> BTreeMap<String, Vec<Check>> {
    let Ok(entries) = std::fs::read_dir(results) else { return BTreeMap::new() };
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = scenario_name(path.file_name()?.to_str()?)?.to_owned();
        let checks: Value = serde_json::from_slice(&std::fs::read(path.join("checks.json")).unwrap()).unwrap();
        Some((name, checks.as_array()?.iter().map(check).collect()))
    };
    entries.filter_map(read).collect()
}

fn scenario_name(directory: &str) -> Option<&str> {
    let named = directory.strip_prefix("server-")?;
    named.get(..named.len().checked_sub(TIME_LENGTH)?)
}

fn check(json: &Value) -> Check {
    let text = |member: &str| json[member].as_str().unwrap_or_default().to_owned();
    Check { id: text("id"), status: text("status"), message: text("errorMessage") }
}
