//! The rules that apply to a call, and what they say about a program and its arguments.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use openfang_egress::process::Program;
use openfang_types::agent::AgentExec;
use openfang_types::config::{ExecConfig, ExecRule};
use openfang_types::exec::{CommandPattern, ProgramPattern};

/// The names under which one file does different things, so that another name of it is another program.
const MANY_IN_ONE: &[&str] = &["busybox", "toybox", "coreutils"];

/// The rules of the configuration, and of the agent that calls.
pub(crate) struct Rules<'a> {
    pub(crate) config: &'a ExecConfig,
    pub(crate) agent: Option<&'a AgentExec>,
}

/// A program as it was found.
pub(super) struct FoundProgram<'a> {
    /// The path by which it is run.
    pub(super) path: &'a Path,
    /// The file that this is.
    pub(super) file: &'a Path,
    /// Whether agents can change it.
    pub(super) is_in_workspace: bool,
    /// The root of the workspace, and the search path.
    pub(super) root: &'a Path,
    pub(super) search: &'a OsStr,
}

impl FoundProgram<'_> {
    fn names(&self) -> Vec<&str> {
        let names = [self.path, self.file].into_iter().filter_map(|path| path.file_name()?.to_str());
        names.collect()
    }
}

impl Rules<'_> {
    /// The rule that denies a command.
    pub(super) fn denial(&self, found: &FoundProgram<'_>, arguments: &[String]) -> Option<String> {
        let agent = self.agent.map(|agent| agent.deny.as_slice()).unwrap_or_default();
        let mut rules = self.config.deny.iter().chain(agent);
        // A rule that cannot be read denies: it is refused when the settings are read.
        let denies = |rule: &&String| {
            CommandPattern::denying(rule)
                .map_or(true, |pattern| is_denied_program(pattern.program(), found) && pattern.denies(arguments))
        };
        rules.find(denies).cloned()
    }

    /// Whether the rules allow a command without a question.
    pub(super) fn allow(&self, found: &FoundProgram<'_>, arguments: &[String]) -> bool {
        let covers = |rules: &[ExecRule]| {
            let patterns = rules.iter().filter_map(|rule| rule.pattern().ok());
            patterns.into_iter().any(|pattern| {
                let is_safe = !found.is_in_workspace || pattern.is_unsafe();
                is_safe && is_allowed_program(pattern.program(), found) && pattern.allows(&found.names(), arguments)
            })
        };
        let agent = self.agent.and_then(|agent| agent.allow.as_deref());
        covers(&self.config.allow) && agent.is_none_or(covers)
    }

    /// Whether programs can open network connections.
    pub(crate) fn network(&self) -> bool {
        self.config.network && self.agent.is_none_or(|agent| agent.network != Some(false))
    }

    /// The most seconds that a program may run, and the seconds without a word about it.
    pub(crate) fn seconds(&self, asked: Option<u64>) -> u64 {
        let wanted = asked.unwrap_or(self.config.timeout_secs);
        self.agent.and_then(|agent| agent.timeout_secs).map_or(wanted, |most| wanted.min(most))
    }

    /// The bytes that are kept of the output.
    pub(crate) fn output_bytes(&self) -> usize {
        let bytes = self.config.output_bytes;
        self.agent.and_then(|agent| agent.output_bytes).map_or(bytes, |most| bytes.min(most))
    }
}

/// Whether a rule that allows is about the program. It is not about a file of the same name elsewhere.
fn is_allowed_program(pattern: &ProgramPattern, found: &FoundProgram<'_>) -> bool {
    let ProgramPattern::Named(name) = pattern else { return true };
    let wanted = Path::new(name).file_name();
    // One file can be several programs, so the name must be the same too.
    if wanted.is_none() || wanted != found.path.file_name() {
        return false;
    }
    let Some(meant) = meant(name, found) else { return false };
    plain(&meant) == plain(found.path) || is_file(&meant, found)
}

/// Whether a rule that denies is about the program, by whichever name it is run.
fn is_denied_program(pattern: &ProgramPattern, found: &FoundProgram<'_>) -> bool {
    let ProgramPattern::Named(name) = pattern else { return true };
    let wanted = Path::new(name).file_name().and_then(OsStr::to_str);
    if wanted.is_none_or(|wanted| found.names().contains(&wanted)) {
        return true;
    }
    let is_many = found
        .file
        .file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|name| MANY_IN_ONE.contains(&name));
    !is_many && meant(name, found).is_some_and(|meant| is_file(&meant, found))
}

/// The path of the program that a rule names.
fn meant(name: &str, found: &FoundProgram<'_>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(found.root.join(name));
    }
    Program::resolve(name, found.search, found.root)
        .ok()
        .map(|program| program.path().to_owned())
}

fn is_file(path: &Path, found: &FoundProgram<'_>) -> bool {
    path.canonicalize().is_ok_and(|file| file == found.file)
}

/// A path without `.` in it.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
#[cfg(unix)]
#[path = "rules_tests.rs"]
mod tests;
