//! What tools do with what they are given.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tool does with what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SinkKind {
    /// Runs code or starts something that will.
    Executes,
    /// Changes something outside, or sends data to where we cannot take it back.
    SendsOut,
    /// Changes nothing, and sends its arguments to a host that they name.
    Fetches,
    /// Changes nothing, and sends its arguments to a server that the operator configured.
    Queries,
    /// Hands data to another agent or a subscriber.
    Delegates,
    /// Keeps data; its labels are kept with it.
    Writes,
    Reads,
}

impl SinkKind {
    /// All kinds, strictest first.
    pub const ALL: [Self; 7] =
        [Self::Executes, Self::SendsOut, Self::Fetches, Self::Queries, Self::Delegates, Self::Writes, Self::Reads];

    /// The word used in JSON, errors and documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executes => "executes",
            Self::SendsOut => "sends-out",
            Self::Fetches => "fetches",
            Self::Queries => "queries",
            Self::Delegates => "delegates",
            Self::Writes => "writes",
            Self::Reads => "reads",
        }
    }

    /// The policy of this sink, in words, for `policy explain`.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Executes => {
                "waits for an approval at this machine when external-network, mcp-server or untrusted-agent content is in \
                 the context; waits for an approval with pii or private data; refused with secret"
            }
            Self::SendsOut => {
                "waits for an approval when external-network, mcp-server or untrusted-agent content is in the context, \
                 unless the user worded every argument; and with pii or private data of another source; refused with secret"
            }
            Self::Fetches => {
                "waits for an approval when content from outside and workspace or internal data are in the context, and \
                 neither the user nor web.read_hosts names the host; and with pii or private data; refused with secret"
            }
            Self::Queries => "waits for an approval with pii or private data of another source; refused with secret",
            Self::Delegates => "refused with secret",
            Self::Writes => "allowed; the labels are stored with the value",
            Self::Reads => "allowed",
        }
    }

    /// Whether the arguments are given to something that this house does not control.
    pub(super) const fn leaves_the_house(self) -> bool {
        match self {
            Self::Executes | Self::SendsOut | Self::Fetches | Self::Queries => true,
            Self::Delegates | Self::Writes | Self::Reads => false,
        }
    }

    /// Whether the arguments can become known to anybody else.
    pub(super) const fn takes_out(self) -> bool {
        match self {
            Self::Executes | Self::SendsOut | Self::Fetches | Self::Queries | Self::Delegates => true,
            Self::Writes | Self::Reads => false,
        }
    }
}

impl fmt::Display for SinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
