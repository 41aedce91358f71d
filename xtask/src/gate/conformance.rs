//! `docs/conformance.md`: what the conformance suites found in the last run of the tests, and the SDKs that the tests talk to.
//! The tests leave a record of each run of a suite in `target/conformance`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::process::root;

const RECORDS: &str = "target/conformance";
const PAGE: &str = "docs/conformance.md";
const SUITE: &str = "@modelcontextprotocol/conformance";
const PACKAGES: &str = "tests/peers/node/package.json";
/// The lists of Python packages, and the package that each is for.
const PYTHON: [(&str, &str); 7] = [
    ("mcp", "mcp"),
    ("fastmcp", "fastmcp"),
    ("a2a13", "a2a-sdk"),
    ("a2a03", "a2a-sdk"),
    ("a2a02", "a2a-sdk"),
    ("fasta2a", "fasta2a"),
    ("openapi", "openapi-spec-validator"),
];
const HEAD: &str = "\
# Conformance

`cargo xtask test` writes this page: what the conformance suites find, and the SDKs that the tests talk to. The tests fail if a
scenario that passed before fails or is missing.

## MCP

";
const A2A: &str = "
## A2A

The conformance kits of A2A need a clone of their repository, so they run by hand: `tests/tck/run.sh`. The tests check every
message against the official schemas, and talk to the SDKs below.

";

/// One run of a suite.
#[derive(Debug, Deserialize)]
struct Record {
    /// What was examined.
    about: String,
    passed: Vec<String>,
    failed: Vec<Unpassed>,
    skipped: Vec<Unpassed>,
}

/// A scenario that did not pass, and why.
#[derive(Debug, Deserialize)]
struct Unpassed {
    name: String,
    why: Vec<String>,
}

/// The stage.
pub(super) fn write() -> Result<String> {
    let root = root();
    let records = records(&root.join(RECORDS))?;
    if records.is_empty() {
        bail!("the tests left no record in {RECORDS}: run the stage `test` first");
    }
    let packages = fs::read_to_string(root.join(PACKAGES))?;
    let page = page(&records, &sdks(&root, &packages)?, &version(&packages, SUITE)?);
    fs::write(root.join(PAGE), page)?;
    Ok(format!("{} runs of the suite", records.len()))
}

fn records(directory: &Path) -> Result<Vec<Record>> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let record: Result<Record, _> = serde_json::from_slice(&fs::read(&path)?);
        records.push(record.with_context(|| format!("{} is not a record", path.display()))?);
    }
    records.sort_by(|one: &Record, other| one.about.cmp(&other.about));
    Ok(records)
}

fn page(records: &[Record], sdks: &str, version: &str) -> String {
    let mut page = format!(
        "{HEAD}`{SUITE}` {version}, scenarios:\n\n| examined | passed | failed | skipped |\n|---|---|---|---|\n"
    );
    for Record { about, passed, failed, skipped } in records {
        page.push_str(&format!("| {about} | {} | {} | {} |\n", passed.len(), failed.len(), skipped.len()));
    }
    let mut reasons: Vec<String> = records
        .iter()
        .flat_map(|record| {
            record
                .failed
                .iter()
                .map(|one| ("failed", one))
                .chain(record.skipped.iter().map(|one| ("skipped", one)))
        })
        .map(|(what, Unpassed { name, why })| {
            let why = if why.is_empty() { "the suite gives no reason".to_owned() } else { why.join("; ") };
            format!("- `{name}` {what}: {}\n", why.replace(['\n', '|'], " "))
        })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    if !reasons.is_empty() {
        page.push_str(&format!("\nWhat did not pass, in any of these:\n\n{}", reasons.concat()));
    }
    page + A2A + sdks
}

fn sdks(root: &Path, packages: &str) -> Result<String> {
    let mut table = "| SDK | version | from |\n|---|---|---|\n".to_owned();
    let packages: Value = serde_json::from_str(packages)?;
    for (name, version) in packages["dependencies"].as_object().into_iter().flatten() {
        let version = version.as_str().unwrap_or_default();
        // An alias names the package too: `npm:@scope/package@1.2.3`.
        let alias = version.strip_prefix("npm:").and_then(|alias| alias.rsplit_once('@'));
        let (name, version) = alias.unwrap_or((name, version));
        if !name.starts_with("node-") {
            table.push_str(&format!("| `{name}` | {version} | npm |\n"));
        }
    }
    for (list, package) in PYTHON {
        let text = fs::read_to_string(root.join(format!("tests/peers/python/requirements-{list}.txt")))?;
        let line = text.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
        let version = line.with_context(|| format!("requirements-{list}.txt does not name {package}"))?;
        table.push_str(&format!("| `{package}` | {version} | PyPI |\n"));
    }
    Ok(table)
}

fn version(packages: &str, name: &str) -> Result<String> {
    let packages: Value = serde_json::from_str(packages)?;
    let version = packages["dependencies"][name].as_str();
    version.map(str::to_owned).with_context(|| format!("{PACKAGES} does not name {name}"))
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
