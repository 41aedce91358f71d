//! Why a request to a server has no result.

use std::time::Duration;

use openfang_types::jsonrpc::ErrorObject;
use openfang_types::limits::MCP_UPSTREAM_MESSAGE_BYTES;

/// Why a request to a server has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server refused it: {0}")]
    Refused(ErrorObject),
    /// No answer came in time.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The request never reached the server, so it can be made again.
    #[error("{0}")]
    NotSent(String),
    /// The conversation broke off; nobody knows what became of the request.
    #[error("{0}")]
    Lost(String),
    /// The server does not know our session any more; it did nothing.
    #[error("the server has forgotten our session")]
    SessionGone,
    /// The server answered something that is not MCP.
    #[error("the server does not speak MCP here: {0}")]
    NotMcp(String),
    /// The server answered HTTP with a status that says no.
    #[error("the server answered with status {status}{}", shown(.said))]
    Status {
        status: u16,
        /// What it said, cut short and made printable.
        said: String,
    },
    /// The answer is larger than any message may be, and is gone.
    #[error("its answer is larger than {} MiB", MCP_UPSTREAM_MESSAGE_BYTES >> 20)]
    TooLarge,
    /// The program cannot be started, or the server not be asked as it is configured.
    #[error("{0}")]
    Start(String),
    /// What was to be called is not what it was, and was not called.
    #[error("{0}")]
    Withdrawn(Withdrawn),
}

/// Why something of a server is not called any more once the server is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Withdrawn {
    #[error("it is quarantined")]
    Quarantined,
    /// The definition is another one than that for which the call was allowed.
    #[error("its definition has changed")]
    Changed,
}

impl ClientError {
    /// Whether the request certainly had no effect, so that it may be made again.
    pub const fn is_harmless(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::SessionGone | Self::Start(_) => true,
            Self::Refused(_)
            | Self::TimedOut(_)
            | Self::Lost(_)
            | Self::NotMcp(_)
            | Self::Status { .. }
            | Self::TooLarge
            | Self::Withdrawn(_) => false,
        }
    }

    /// Whether the conversation is over with it.
    pub const fn ends_connection(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::SessionGone | Self::Start(_) | Self::Lost(_) => true,
            Self::Refused(_)
            | Self::TimedOut(_)
            | Self::NotMcp(_)
            | Self::Status { .. }
            | Self::TooLarge
            | Self::Withdrawn(_) => false,
        }
    }
}

fn shown(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
