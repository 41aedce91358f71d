//! Calls that wait for a person, as the API answers them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{AgentName, ApprovalId, Owner, TaskId, ToolName};
use crate::taint::Labels;

/// The approvals that the caller may see, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalList {
    pub approvals: Vec<ApprovalView>,
}

/// A call that waits for a person, or waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub id: ApprovalId,
    /// Whose call it is.
    pub owner: Owner,
    /// How it stands: pending, approved, denied, expired or used.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The task that goes on after the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    pub tool: ToolName,
    pub arguments: Value,
    /// What a decision names: the digest of the tool and the arguments.
    pub digest: String,
    /// Why a person has to decide.
    pub reason: String,
    /// What led to the question, with its sources.
    pub labels: Labels,
    /// Whether it can only be approved at the machine of the server, on the command line.
    pub at_machine: bool,
    pub made: Timestamp,
    pub expires: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Owner>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
}

/// A decision on the call with this digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalDecision {
    pub decision: DecisionKind,
    pub digest: String,
}

/// What a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    Approve,
    Deny,
}
