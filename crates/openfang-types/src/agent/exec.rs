//! `[exec]` of an agent: how it narrows the programs that `shell_exec` runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ManifestProblem;
use crate::config::{ExecRule, exec_rule_problem};
use crate::limits::{EXEC_OUTPUT_MIN_BYTES, EXEC_TIMEOUT_MAX_SECS};

/// What the agent may run with `shell_exec`. It narrows `[exec]` of `config.toml`, and widens nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentExec {
    /// Commands that run without a question, if the rules of `config.toml` allow them too. Absent: all that those allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<ExecRule>>,
    /// Commands that never run, besides those that `config.toml` denies.
    pub deny: Vec<String>,
    /// `false`: no network connections, also if `config.toml` allows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// The most seconds that a program may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<u64>,
    /// The most bytes that are kept of the output of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<usize>,
}

pub(super) fn problem(exec: &AgentExec) -> Option<ManifestProblem> {
    let rules = exec_rule_problem(exec.allow.as_deref().unwrap_or_default(), &exec.deny);
    if let Some((key, why)) = rules {
        return Some((format!("exec.{key}"), why));
    }
    if exec.timeout_secs.is_some_and(|secs| !(1..=EXEC_TIMEOUT_MAX_SECS).contains(&secs)) {
        return Some(("exec.timeout_secs".to_owned(), format!("must be between 1 and {EXEC_TIMEOUT_MAX_SECS}")));
    }
    if exec.output_bytes.is_some_and(|bytes| bytes < EXEC_OUTPUT_MIN_BYTES) {
        return Some(("exec.output_bytes".to_owned(), format!("must be at least {EXEC_OUTPUT_MIN_BYTES}")));
    }
    None
}
