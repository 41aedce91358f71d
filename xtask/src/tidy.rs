//! The house rules that neither the compiler nor clippy can hold. A rule is a pure function over a file's path and
//! text, or over cargo's metadata, and gives violations; `check` below is the list of all rules.
//! `cargo xtask tidy` prints them, and a test runs the same check, so `cargo test` holds the rules too.

mod arrows;
mod comments;
mod drops;
mod files;
mod graph;
mod licences;
mod machine_paths;
mod manifests;
mod rooms;
pub(crate) mod source;
mod unused;
mod words;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::tree::Tree;
use crate::{process, wants_help};

const HELP: &str = "\
Usage: cargo xtask tidy

Checks the house rules and prints every violation as FILE:LINE: [RULE] REASON.

  arrows     which crate may name which, and which foreign crates it must never know
  rooms      which room of the kernel may name which; none shows its state or holds the kernel
  unused     no dependency that nothing uses, or only tests do
  drops      no work in Drop: what goes out of scope gives back, and begins nothing
  docs       every Rust file opens with module docs
  length     at most 500 lines a file, 800 in tests; files over 300 are listed as warnings
  comments   no rulers, no notes without an issue number, no commented-out code
  words      no doc comment that repeats a name, no type named by a participle, no metaphor in what users read
  tests      no test that is switched off
  layout     no mod.rs
  bans       crates that must not be anywhere in the graph, git sources
  licences   only those on the list
  versions   only in the workspace table
  paths      no path of somebody's machine, no registry addresses in package-lock.json
";

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    rule: &'static str,
    reason: String,
}

impl Violation {
    fn new(path: &str, line: usize, rule: &'static str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, reason: reason.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: [{}] {}", self.path, self.line, self.rule, self.reason)
    }
}

/// What a check found: violations fail, warnings do not.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<Violation>,
    pub(crate) warnings: Vec<Violation>,
}

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(unknown) = args.first() {
        bail!("tidy takes no argument, not `{unknown}`: try `cargo xtask tidy --help`");
    }
    let violations = report()?;
    Ok(if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks the project, prints what was found, and says how many violations there are.
pub(crate) fn report() -> Result<usize> {
    let findings = check(&Tree::read(&process::root())?, &Metadata::load()?);
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    for violation in &findings.violations {
        println!("{violation}");
    }
    Ok(findings.violations.len())
}

/// All rules over the whole project.
pub(crate) fn check(tree: &Tree, metadata: &Metadata) -> Findings {
    let mut findings = Findings::default();
    let violations = &mut findings.violations;
    for file in tree.rust() {
        let lines = source::lines(&file.text);
        violations.extend(files::module_docs(&file.path, &file.text));
        violations.extend(files::length(&file.path, &file.text));
        violations.extend(files::layout(&file.path));
        violations.extend(comments::rulers(&file.path, &lines));
        violations.extend(comments::notes_without_issue(&file.path, &lines));
        violations.extend(comments::commented_out_code(&file.path, &lines));
        violations.extend(comments::ignored_tests(&file.path, &lines));
        violations.extend(drops::work(&file.path, &lines));
        violations.extend(arrows::named_in_source(&file.path, &lines, metadata));
        violations.extend(rooms::named(&file.path, &lines));
        violations.extend(rooms::fields(&file.path, &lines));
        violations.extend(rooms::state(&file.path, &lines));
        violations.extend(rooms::handle(&file.path, &lines));
        if words::is_product(&file.path) {
            violations.extend(words::short_docs(&file.path, &lines));
            violations.extend(words::type_names(&file.path, &lines));
            violations.extend(words::messages(&file.path, &lines));
        }
        findings.warnings.extend(files::long(&file.path, &file.text));
    }
    for file in tree.files() {
        violations.extend(machine_paths::check(&file.path, &file.text));
        violations.extend(words::pages(&file.path, &file.text));
    }
    for member in metadata.members() {
        let manifest = metadata.manifest_of(member);
        violations.extend(manifests::versions(&manifest, tree.text(&manifest).unwrap_or_default()));
    }
    violations.extend(arrows::declared(metadata, tree));
    violations.extend(unused::dependencies(metadata, tree));
    violations.extend(graph::bans(metadata, tree));
    violations.extend(licences::check(metadata, tree));
    violations.sort();
    findings
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
