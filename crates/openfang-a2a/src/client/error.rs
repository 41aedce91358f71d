//! What can go wrong with an external agent. The variants tell apart what a caller can do about it.

use std::time::Duration;

use openfang_egress::http::HttpError;

use super::DiscoveryError;
use crate::dialect::WriteError;
use crate::peer::{AnswerError, PeerError, PeerFault, WrongTask};

/// Why a request to an external agent has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The agent cannot be used as it describes itself.
    #[error(transparent)]
    Discovery(#[from] Box<DiscoveryError>),
    /// The request cannot be expressed in the agent's version of A2A.
    #[error("the agent cannot be asked for this: {0}")]
    Inexpressible(#[from] WriteError),
    /// The request did not reach the agent.
    #[error("the agent cannot be reached: {0}")]
    NotSent(String),
    /// The connection failed after the request was sent.
    #[error("the connection to the agent failed: {0}")]
    Interrupted(String),
    /// The agent does not accept the credential, or requires one.
    #[error("{0}")]
    Unauthorized(String),
    /// The agent does not know the task.
    #[error("the agent does not know the task")]
    TaskNotFound,
    /// The agent refused the request.
    #[error("the agent answered: {error}")]
    Refused {
        error: Box<PeerError>,
        /// When the agent wants to be asked again, if it says so.
        retry_after: Option<Duration>,
    },
    /// The agent answered, but the answer has no meaning.
    #[error("{0}")]
    Unreadable(AnswerError),
    /// The agent continued another task than the one it was asked to continue.
    #[error(transparent)]
    WrongTask(#[from] WrongTask),
    /// The agent gave no sign of life for too long.
    #[error("the agent has shown no progress for {} seconds; a cancel request was sent", after.as_secs())]
    Stalled {
        /// The limit that was exceeded.
        after: Duration,
    },
    /// The agent did not finish in time.
    #[error("the agent has not finished within {} seconds; a cancel request was sent", after.as_secs())]
    TimedOut {
        /// The limit that was exceeded.
        after: Duration,
    },
    /// The agent sent more than is accepted.
    #[error("the agent sent too much: more than {limit} {what}; a cancel request was sent")]
    TooMuch { limit: u64, what: &'static str },
}

/// Whether a request reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The agent certainly did not act on it. It can be sent again.
    NotSent,
    /// Nobody knows. Sending it again may repeat the work.
    Unknown,
    /// The agent received it and answered.
    Answered,
}

impl ClientError {
    /// Whether the request reached the agent.
    pub const fn delivery(&self) -> Delivery {
        match self {
            Self::Discovery(_) | Self::Inexpressible(_) | Self::NotSent(_) | Self::Unauthorized(_) => Delivery::NotSent,
            Self::Interrupted(_) | Self::Unreadable(_) => Delivery::Unknown,
            Self::Refused { error, .. } if error.had_no_effect() || matches!(error.fault, PeerFault::TooMany) => {
                Delivery::NotSent
            }
            // A server or a proxy that fails may have handed the message on before.
            Self::Refused { error, .. } if error.code.is_none() && matches!(error.status, Some(500..)) => {
                Delivery::Unknown
            }
            Self::Refused { .. }
            | Self::TaskNotFound
            | Self::WrongTask(_)
            | Self::Stalled { .. }
            | Self::TimedOut { .. }
            | Self::TooMuch { .. } => Delivery::Answered,
        }
    }

    /// Whether the same request may succeed a little later.
    pub const fn is_temporary(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::Interrupted(_) => true,
            Self::Refused { error, .. } => {
                matches!(error.fault, PeerFault::TooMany | PeerFault::Unavailable)
                    || matches!(error.status, Some(500..))
            }
            Self::Discovery(_)
            | Self::Inexpressible(_)
            | Self::Unauthorized(_)
            | Self::TaskNotFound
            | Self::Unreadable(_)
            | Self::WrongTask(_)
            | Self::Stalled { .. }
            | Self::TimedOut { .. }
            | Self::TooMuch { .. } => false,
        }
    }

    /// The refusal, if the agent refused.
    pub fn refusal(&self) -> Option<&PeerError> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }

    pub(super) fn refused(error: Box<PeerError>, retry_after: Option<Duration>) -> Self {
        match error.fault {
            PeerFault::TaskNotFound => Self::TaskNotFound,
            PeerFault::Unauthenticated | PeerFault::Forbidden => {
                Self::Unauthorized(format!("the agent refused the credential: {error}"))
            }
            _ => Self::Refused { error, retry_after },
        }
    }

    /// An error of the transport, before or after the request was sent.
    pub(super) fn transport(error: &HttpError) -> Self {
        match error {
            HttpError::Refused(_)
            | HttpError::RedirectRefused { .. }
            | HttpError::Unresolvable { .. }
            | HttpError::Unreachable { .. }
            | HttpError::ConnectTimeout { .. }
            | HttpError::Tls { .. }
            | HttpError::TooManyRedirects { .. }
            | HttpError::Downgrade { .. }
            | HttpError::BodyAcrossOrigins { .. }
            | HttpError::CircuitOpen { .. }
            | HttpError::TooFast { .. }
            | HttpError::ReservedHeader { .. }
            | HttpError::Method { .. }
            | HttpError::Setup { .. } => Self::NotSent(error.to_string()),
            HttpError::FirstByte { .. }
            | HttpError::Stalled { .. }
            | HttpError::TookTooLong { .. }
            | HttpError::TooLarge { .. }
            | HttpError::Bomb { .. }
            | HttpError::UnsupportedEncoding { .. }
            | HttpError::Corrupt { .. }
            | HttpError::Interrupted { .. }
            | HttpError::BadResponse { .. }
            | HttpError::Events { .. } => Self::Interrupted(error.to_string()),
        }
    }
}

impl From<DiscoveryError> for ClientError {
    fn from(error: DiscoveryError) -> Self {
        Self::Discovery(Box::new(error))
    }
}
