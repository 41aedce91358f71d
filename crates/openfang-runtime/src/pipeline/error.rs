//! Why a call was refused or broke. What a tool itself could not do is not here: that is an output with `is_error`.

use std::time::Duration;

use openfang_store::StoreError;
use openfang_types::ids::{AgentName, ServerName, ToolName};
use openfang_types::taint::{Label, SinkKind};

use super::ApprovalNeeded;
use crate::tools::ToolFailure;

/// A refusal, in a sentence its reader can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No such tool, or not for this caller: the two look the same. Only the audit log says which it was.
    #[error("there is no tool {tool}{}", in_profile(profiles))]
    Unknown {
        tool: ToolName,
        /// The profiles that narrow the caller; empty if there are none.
        profiles: String,
        /// The reason, which the caller is not told.
        hidden: Hidden,
    },
    /// The agent's own patterns do not cover the tool. Only the operator is told; anybody else gets [`Self::Unknown`].
    #[error(
        "the agent {agent} may not call {tool}: its capabilities do not cover it; \
         `openfang policy explain {agent} {tool}` says what does"
    )]
    NotGranted { tool: ToolName, agent: AgentName },
    /// The tool is new, or its definition changed, and the operator has not accepted that. Only the operator is told; anybody else gets
    /// [`Self::Unknown`].
    #[error(
        "{tool} is quarantined: it is new, or the MCP server {server} changed its definition; review it with \
         `openfang mcp review {server}`, and accept it with `openfang mcp accept {server}`{}",
        explanation(agent.as_ref(), tool)
    )]
    Quarantined {
        tool: ToolName,
        server: ServerName,
        /// The agent that would have called it, if any.
        agent: Option<AgentName>,
    },
    /// The arguments do not fit the schema; the tool did not run.
    #[error("the arguments of {tool} do not fit its schema: {}", problems.join("; "))]
    InvalidArguments {
        tool: ToolName,
        /// What does not fit, place by place.
        problems: Vec<String>,
    },
    /// The tool's own schema cannot be used.
    #[error("the schema of {tool} cannot be compiled: {why}")]
    UnusableSchema { tool: ToolName, why: String },
    /// Holding the arguments against the schema takes too long; the tool did not run.
    #[error("the arguments of {0} were not checked: with its schema that takes too many steps; send smaller arguments")]
    Unchecked(ToolName),
    /// The run goes in circles.
    #[error("{tool} was not called: {why}; try something else, or answer with what you have")]
    Looping { tool: ToolName, why: String },
    /// The rules of the tool do not allow the call.
    #[error("{tool} was not called: {why}")]
    NotAllowed { tool: ToolName, why: String },
    /// A label and a sink may not meet.
    #[error(
        "{tool} was not called: it {sink} and the context carries {label} (from {sources}); \
         start a new run without that content, or ask the operator"
    )]
    Tainted {
        tool: ToolName,
        sink: SinkKind,
        /// Which label forbids it.
        label: Label,
        /// What brought the label: a few sources by name, the others counted.
        sources: String,
    },
    /// A person must decide on the call.
    #[error("{} was not called: {}; {}", .0.tool, .0.reason, way_to_approve(.0))]
    NeedsApproval(Box<ApprovalNeeded>),
    /// The approval that came with the call is not one for it.
    #[error(
        "{tool} was not called: the approval is for another call, or has expired, was denied or was used, or the tool has changed since \
         and the change is not accepted; ask for the call again"
    )]
    NotApproved { tool: ToolName },
    /// A person must decide on the call and cannot be shown it.
    #[error(
        "{tool} was not called: a person has to approve the call, and its arguments have more than {limit} bytes; send less"
    )]
    CannotBeShown {
        tool: ToolName,
        /// How long arguments may be.
        limit: usize,
    },
    /// A person must decide on the call, and would be shown another one.
    #[error(
        "{tool} was not called: a person has to approve the call, and cannot be shown its arguments as they would be sent: a number \
         has more digits than fit, or a member is named twice; send the number as text, and each member once"
    )]
    CannotBeShownExactly { tool: ToolName },
    /// A person must decide on the call, and has enough to decide on.
    #[error(
        "{tool} was not called: a person has to approve the call, and {limit} calls wait already; \
         `openfang approval list` shows them"
    )]
    TooManyWaiting {
        tool: ToolName,
        /// How many may wait.
        limit: usize,
    },
    /// The arguments hold the value of a configured secret.
    #[error("{0} was not called: its arguments contain a configured secret; leave the secret out")]
    SecretInArguments(ToolName),
    /// The tool took too long; its work was dropped.
    #[error("{tool} did not answer within {} s", after.as_secs_f32())]
    TimedOut {
        tool: ToolName,
        /// How long it had.
        after: Duration,
    },
    /// The caller canceled, or went away.
    #[error("{0} was canceled")]
    Cancelled(ToolName),
    /// The tool broke. The details are in the log, under the request's trace id.
    #[error("{0} failed with an internal error; see the log for this request's trace id")]
    Panicked(ToolName),
    /// The server could not do it, in the server's own words.
    #[error("{failure}")]
    Failed {
        tool: ToolName,
        /// What the server said.
        failure: ToolFailure,
    },
    /// The call could not be recorded, so it was not made.
    #[error("{tool} was not called: its audit row could not be written ({cause})")]
    Unrecorded { tool: ToolName, cause: StoreError },
}

/// Why a tool does not exist for a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// There is no such tool.
    Absent,
    /// The caller, or the agent, was not granted it.
    NotGranted,
    /// Its definition changed, and the operator has not accepted that.
    Quarantined,
}

impl ToolError {
    /// Whether the run that made the call must end.
    pub const fn ends_the_run(&self) -> bool {
        match self {
            Self::Looping { .. } | Self::Cancelled(_) => true,
            Self::Unknown { .. }
            | Self::NotGranted { .. }
            | Self::Quarantined { .. }
            | Self::InvalidArguments { .. }
            | Self::UnusableSchema { .. }
            | Self::Unchecked(_)
            | Self::NotAllowed { .. }
            | Self::Tainted { .. }
            | Self::NeedsApproval(_)
            | Self::NotApproved { .. }
            | Self::CannotBeShown { .. }
            | Self::CannotBeShownExactly { .. }
            | Self::TooManyWaiting { .. }
            | Self::SecretInArguments(_)
            | Self::TimedOut { .. }
            | Self::Panicked(_)
            | Self::Failed { .. }
            | Self::Unrecorded { .. } => false,
        }
    }

    /// The word that the caller gets.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => Hidden::Absent.as_str(),
            Self::NotGranted { .. } => Hidden::NotGranted.as_str(),
            Self::Quarantined { .. } => Hidden::Quarantined.as_str(),
            Self::InvalidArguments { .. } => "invalid_arguments",
            Self::UnusableSchema { .. } => "unusable_schema",
            Self::Unchecked(_) => "unchecked_arguments",
            Self::Looping { .. } => "looping",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Tainted { .. } => "tainted",
            Self::NeedsApproval(_) => "needs_approval",
            Self::NotApproved { .. } => "not_approved",
            Self::CannotBeShown { .. } | Self::CannotBeShownExactly { .. } => "cannot_be_shown",
            Self::TooManyWaiting { .. } => "too_many_waiting",
            Self::SecretInArguments(_) => "secret_in_arguments",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled(_) => "canceled",
            Self::Panicked(_) => "panicked",
            Self::Failed { .. } => "tool_failed",
            Self::Unrecorded { .. } => "unrecorded",
        }
    }

    /// The word for metrics and audit rows, which the operator reads.
    pub const fn true_reason(&self) -> &'static str {
        match self {
            Self::Unknown { hidden, .. } => hidden.as_str(),
            Self::NotGranted { .. }
            | Self::Quarantined { .. }
            | Self::InvalidArguments { .. }
            | Self::UnusableSchema { .. }
            | Self::Unchecked(_)
            | Self::Looping { .. }
            | Self::NotAllowed { .. }
            | Self::Tainted { .. }
            | Self::NeedsApproval(_)
            | Self::NotApproved { .. }
            | Self::CannotBeShown { .. }
            | Self::CannotBeShownExactly { .. }
            | Self::TooManyWaiting { .. }
            | Self::SecretInArguments(_)
            | Self::TimedOut { .. }
            | Self::Cancelled(_)
            | Self::Panicked(_)
            | Self::Failed { .. }
            | Self::Unrecorded { .. } => self.reason(),
        }
    }
}

impl Hidden {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "unknown_tool",
            Self::NotGranted => "not_granted",
            Self::Quarantined => "quarantined",
        }
    }
}

/// Where a tool is not. It says the same whether there is such a tool elsewhere or not.
fn in_profile(profiles: &str) -> String {
    match profiles {
        "" => String::new(),
        profiles => format!(" in the profile {}", profiles.replace(' ', " and ")),
    }
}

/// Who decides, and how the call is made then.
fn way_to_approve(needed: &ApprovalNeeded) -> String {
    let id = needed.id;
    format!(
        "a person can approve this one call with `openfang approval approve {id}` within 15 minutes; then make the same call again"
    )
}

/// The command that says more, where there is an agent to be explained.
fn explanation(agent: Option<&AgentName>, tool: &ToolName) -> String {
    agent.map_or_else(String::new, |agent| format!("; `openfang policy explain {agent} {tool}` says more"))
}
