//! Information flow: labels say where a value came from, sinks say what a tool does with it, and one pure function
//! decides whether the two may meet. The decision is made outside any model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use labels::{Labels, Sources};

mod labels;

/// Where a value came from, or what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// Config and command line.
    Operator,
    /// A person with a credential.
    User,
    /// Another agent, or a caller without a credential.
    UntrustedAgent,
    ExternalNetwork,
    /// A result of an MCP server that is not trusted.
    McpServer,
    /// A file of a workspace.
    Workspace,
    /// A configured secret, or text of a known secret's shape.
    Secret,
    /// What config calls personal.
    Pii,
}

impl Label {
    /// All labels, in order.
    pub const ALL: [Self; 8] = [
        Self::Operator,
        Self::User,
        Self::UntrustedAgent,
        Self::ExternalNetwork,
        Self::McpServer,
        Self::Workspace,
        Self::Secret,
        Self::Pii,
    ];

    /// The word used in JSON, errors and documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::User => "user",
            Self::UntrustedAgent => "untrusted-agent",
            Self::ExternalNetwork => "external-network",
            Self::McpServer => "mcp-server",
            Self::Workspace => "workspace",
            Self::Secret => "secret",
            Self::Pii => "pii",
        }
    }

    /// Whether somebody we do not answer for could have written the value.
    pub const fn is_foreign(self) -> bool {
        match self {
            Self::UntrustedAgent | Self::ExternalNetwork | Self::McpServer => true,
            Self::Operator | Self::User | Self::Workspace | Self::Secret | Self::Pii => false,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a tool does with what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SinkKind {
    /// Runs code or starts something that will.
    Executes,
    /// Sends data to where we cannot take it back.
    SendsOut,
    /// Hands data to another agent or a subscriber.
    Delegates,
    /// Keeps data; its labels are kept with it.
    Writes,
    Reads,
}

impl SinkKind {
    /// All kinds, strictest first.
    pub const ALL: [Self; 5] = [Self::Executes, Self::SendsOut, Self::Delegates, Self::Writes, Self::Reads];

    /// The word used in JSON, errors and documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executes => "executes",
            Self::SendsOut => "sends-out",
            Self::Delegates => "delegates",
            Self::Writes => "writes",
            Self::Reads => "reads",
        }
    }

    /// The labels that may refuse this sink, in words, for `policy explain`.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Executes => {
                "refused when the context or the arguments carry external-network, mcp-server or untrusted-agent"
            }
            Self::SendsOut => {
                "refused with secret or pii; and with workspace when external-network, mcp-server or untrusted-agent is there too"
            }
            Self::Delegates => "refused with secret",
            Self::Writes => "allowed; the labels are stored with the value",
            Self::Reads => "allowed",
        }
    }
}

impl fmt::Display for SinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The default policy: the label that forbids this sink, if any does. A pure function of labels and kind.
pub fn forbidding_label(labels: &Labels, sink: SinkKind) -> Option<Label> {
    let foreign = || labels.iter().find(|label| label.is_foreign());
    let held = |label: Label| labels.contains(label).then_some(label);
    match sink {
        SinkKind::Executes => foreign(),
        SinkKind::SendsOut => held(Label::Secret)
            .or_else(|| held(Label::Pii))
            .or_else(|| held(Label::Workspace).filter(|_| foreign().is_some())),
        SinkKind::Delegates => held(Label::Secret),
        SinkKind::Writes | SinkKind::Reads => None,
    }
}

#[cfg(test)]
#[path = "taint_tests.rs"]
mod tests;
