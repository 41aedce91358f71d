//! Expected verdicts of the policy, and what they were.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ToolName};
use crate::taint::Label;

/// Cases to be judged: a file of `openfang policy test`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCases {
    #[serde(rename = "case")]
    pub cases: Vec<PolicyCase>,
}

/// A call, and the verdict that is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCase {
    /// The agent that calls the tool; none for a direct call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    pub tool: ToolName,
    /// What the context carries when the call is decided on.
    #[serde(default)]
    pub labels: Vec<Label>,
    /// Whether the user worded every argument.
    #[serde(default)]
    pub user_worded: bool,
    /// Whether the user named the host, or the operator listed it.
    #[serde(default)]
    pub known_host: bool,
    pub expect: PolicyVerdict,
}

/// A verdict in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyVerdict {
    Allow,
    Ask,
    Refuse,
    /// The tool does not exist for the caller, or for the agent.
    Unknown,
}

impl PolicyVerdict {
    /// The word in files and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdicts of cases, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReport {
    pub results: Vec<PolicyResult>,
    /// How many verdicts are not as expected.
    pub different: usize,
}

/// The verdict of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyResult {
    /// The place of the case in its file, from 1.
    pub case: usize,
    pub tool: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    pub expected: PolicyVerdict,
    pub verdict: PolicyVerdict,
    /// Why it is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
