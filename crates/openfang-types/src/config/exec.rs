//! The programs that `shell_exec` runs, under `[exec]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::exec::{CommandPattern, PatternFault};
use crate::limits::{EXEC_OUTPUT_MAX_BYTES, EXEC_OUTPUT_MIN_BYTES, EXEC_RULES_MAX, EXEC_TIMEOUT_MAX_SECS};

/// The programs that `shell_exec` runs, under `[exec]`. An agent can narrow this in its `agent.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecConfig {
    /// Commands that run without a question: a program and patterns of its arguments, such as `git status *`. Every other
    /// command waits for an approval at this machine.
    pub allow: Vec<ExecRule>,
    /// Commands that never run, whoever approves them. The name of a program alone denies all of it.
    pub deny: Vec<String>,
    /// Files and directories that programs can read, besides their workspace and the programs and libraries of the system, such as
    /// programs that are installed for one user. Absolute paths.
    pub read: Vec<PathBuf>,
    /// Whether programs can open network connections.
    pub network: bool,
    /// Seconds that a program may run, unless the call asks for another time.
    pub timeout_secs: u64,
    /// Bytes that are kept of the output of a program: half of stdout and half of stderr, of each the beginning and the end.
    pub output_bytes: usize,
    /// Whether programs run without a sandbox, with everything that the user of the server can do. For systems without one.
    pub unsandboxed: bool,
}

impl Default for ExecConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            deny: Vec::new(),
            read: Vec::new(),
            network: false,
            timeout_secs: 30,
            output_bytes: 1024 * 1024,
            unsandboxed: false,
        }
    }
}

/// A command that runs without a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a rule is a text such as \"git status *\", or { command = \"...\", unsafe = true }")]
pub enum ExecRule {
    /// A program and patterns of its arguments.
    Plain(String),
    Marked(MarkedRule),
}

/// A rule that says more than its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkedRule {
    /// A program and patterns of its arguments.
    pub command: String,
    /// Whether the rule may cover programs that run any other program, such as interpreters, and files of the workspace.
    #[serde(default, rename = "unsafe")]
    pub is_unsafe: bool,
}

impl ExecRule {
    /// The rule as it is written.
    pub fn command(&self) -> &str {
        match self {
            Self::Plain(command) => command,
            Self::Marked(rule) => &rule.command,
        }
    }

    /// Parses the command of the rule.
    pub fn pattern(&self) -> Result<CommandPattern, PatternFault> {
        let is_unsafe = match self {
            Self::Plain(_) => false,
            Self::Marked(rule) => rule.is_unsafe,
        };
        CommandPattern::allowing(self.command(), is_unsafe)
    }
}

pub(super) fn problems(exec: &ExecConfig) -> Vec<ConfigProblem> {
    let mut problems: Vec<ConfigProblem> = rule_problem(&exec.allow, &exec.deny)
        .map(|(key, why)| ConfigProblem { key: format!("exec.{key}"), why })
        .into_iter()
        .collect();
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: format!("exec.{key}"), why });
    if let Some(path) = exec.read.iter().find(|path| !path.is_absolute() || path.parent().is_none()) {
        say("read", format!("{path:?} must be an absolute path, and not all of the file system"));
    }
    if !(1..=EXEC_TIMEOUT_MAX_SECS).contains(&exec.timeout_secs) {
        say("timeout_secs", format!("must be between 1 and {EXEC_TIMEOUT_MAX_SECS}"));
    }
    if !(EXEC_OUTPUT_MIN_BYTES..=EXEC_OUTPUT_MAX_BYTES).contains(&exec.output_bytes) {
        say("output_bytes", format!("must be between {EXEC_OUTPUT_MIN_BYTES} and {EXEC_OUTPUT_MAX_BYTES}"));
    }
    problems
}

/// The first rule that cannot be used: its list, and why.
pub(crate) fn rule_problem(allow: &[ExecRule], deny: &[String]) -> Option<(&'static str, String)> {
    if allow.len().max(deny.len()) > EXEC_RULES_MAX {
        let list = if allow.len() > EXEC_RULES_MAX { "allow" } else { "deny" };
        return Some((list, format!("has more than {EXEC_RULES_MAX} rules")));
    }
    let allowed = allow.iter().find_map(|rule| {
        let fault = rule.pattern().err()?;
        Some(("allow", format!("{:?}: {fault}", rule.command())))
    });
    let denied = || {
        deny.iter().find_map(|rule| {
            let fault = CommandPattern::denying(rule).err()?;
            Some(("deny", format!("{rule:?}: {fault}")))
        })
    };
    allowed.or_else(denied)
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod tests;
