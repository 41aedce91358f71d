//! Information flow: labels say where a value came from, sinks say what a tool does with it, and one pure function
//! decides whether the two may meet. The decision is made outside any model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use data_class::DataClass;
pub use labels::{Labels, Sources};
pub use sink::SinkKind;
pub use verdict::{AskReason, ChosenHost, JudgedCall, Verdict, WordedBy, verdict};

mod data_class;
mod labels;
mod sink;
mod verdict;

/// The source of the label of whoever calls over A2A.
pub const A2A_CALLER: &str = "an A2A caller";
/// The source of the label of whoever calls from this machine without a credential.
pub const LOCAL_CALLER: &str = "a local caller without a credential";

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
    /// Data of a server or agent that does not go where a stranger could read it.
    Internal,
    /// Data of a server or agent that goes to nobody else unasked.
    Private,
}

impl Label {
    /// All labels, in order.
    pub const ALL: [Self; 10] = [
        Self::Operator,
        Self::User,
        Self::UntrustedAgent,
        Self::ExternalNetwork,
        Self::McpServer,
        Self::Workspace,
        Self::Secret,
        Self::Pii,
        Self::Internal,
        Self::Private,
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
            Self::Internal => "internal",
            Self::Private => "private",
        }
    }

    /// Whether somebody we do not answer for could have written the value.
    pub const fn is_foreign(self) -> bool {
        match self {
            Self::UntrustedAgent | Self::ExternalNetwork | Self::McpServer => true,
            Self::Operator
            | Self::User
            | Self::Workspace
            | Self::Secret
            | Self::Pii
            | Self::Internal
            | Self::Private => false,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
