//! Why a peer refused a request, and why its answer could not be read.

use std::fmt;

/// Why a call has no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The peer refused the request or failed.
    #[error("the agent answered: {0}")]
    Peer(Box<PeerError>),
    /// The answer is malformed.
    #[error("the agent's answer cannot be read: {}", placed(at, why))]
    Unreadable {
        /// The member as a dotted path. Empty means the whole.
        at: String,
        /// What is wrong with the member.
        why: String,
    },
}

fn placed(at: &str, why: &str) -> String {
    if at.is_empty() { why.to_owned() } else { format!("`{at}`: {why}") }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerError {
    /// The meaning of the refusal.
    pub fault: PeerFault,
    /// The JSON-RPC error code, if there was one.
    pub code: Option<i64>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The peer's message, shortened to one line.
    pub message: String,
    /// The machine-readable reason in `google.rpc.ErrorInfo`.
    pub reason: Option<String>,
    /// Whether the details point at the member `method`. Some peers report an unknown method that way.
    pub blames_method: bool,
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.status) {
            (Some(code), _) => write!(f, "{} ({code})", self.message),
            (None, Some(status)) => write!(f, "{} (HTTP {status})", self.message),
            (None, None) => f.write_str(&self.message),
        }
    }
}

impl PeerError {
    /// Whether the request certainly had no effect, so that it can be retried in another form.
    pub const fn had_no_effect(&self) -> bool {
        let is_unknown =
            matches!(self.fault, PeerFault::MethodNotFound | PeerFault::VersionNotSupported | PeerFault::NoEndpoint);
        is_unknown || (matches!(self.fault, PeerFault::InvalidRequest) && self.blames_method)
    }
}

/// The meaning of a refusal, independent of the peer's wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerFault {
    /// The peer could not parse the request.
    Parse,
    /// The peer did not accept the message as a request.
    InvalidRequest,
    /// The peer does not know the method.
    MethodNotFound,
    /// The peer does not accept the parameters.
    InvalidParams,
    /// The peer had an internal error.
    Internal,
    /// The task does not exist or belongs to another caller.
    TaskNotFound,
    /// The task cannot be canceled.
    NotCancelable,
    /// The task has ended. It accepts no messages and has no stream.
    Ended,
    /// The peer does not support push notifications.
    PushNotSupported,
    /// The peer does not support the operation.
    Unsupported,
    /// The peer does not support the content type.
    ContentType,
    /// The agent behind the peer returned an invalid response.
    InvalidAgentResponse,
    /// The peer has no extended card.
    NoExtendedCard,
    /// The peer requires an extension.
    ExtensionRequired,
    /// The peer does not support the version.
    VersionNotSupported,
    /// The URL or the HTTP method does not exist.
    NoEndpoint,
    /// The peer requires a credential.
    Unauthenticated,
    /// The credential does not grant access.
    Forbidden,
    /// The peer limits the request rate.
    TooMany,
    /// The peer is temporarily unavailable.
    Unavailable,
    Other,
}

impl PeerFault {
    /// The meaning of a JSON-RPC or A2A error code.
    pub const fn of_code(code: i64) -> Option<Self> {
        Some(match code {
            -32_700 => Self::Parse,
            -32_600 => Self::InvalidRequest,
            -32_601 => Self::MethodNotFound,
            -32_602 => Self::InvalidParams,
            -32_603 => Self::Internal,
            -32_001 => Self::TaskNotFound,
            -32_002 => Self::NotCancelable,
            -32_003 => Self::PushNotSupported,
            -32_004 => Self::Unsupported,
            -32_005 => Self::ContentType,
            -32_006 => Self::InvalidAgentResponse,
            -32_007 => Self::NoExtendedCard,
            -32_008 => Self::ExtensionRequired,
            -32_009 => Self::VersionNotSupported,
            _ => return None,
        })
    }

    /// The meaning of a reason in `google.rpc.ErrorInfo`.
    pub fn of_reason(reason: &str) -> Option<Self> {
        Some(match reason {
            "PARSE_ERROR" => Self::Parse,
            "INVALID_REQUEST" => Self::InvalidRequest,
            "METHOD_NOT_FOUND" => Self::MethodNotFound,
            "INVALID_PARAMS" => Self::InvalidParams,
            "INTERNAL_ERROR" => Self::Internal,
            "TASK_NOT_FOUND" => Self::TaskNotFound,
            "TASK_NOT_CANCELABLE" => Self::NotCancelable,
            "PUSH_NOTIFICATION_NOT_SUPPORTED" => Self::PushNotSupported,
            "UNSUPPORTED_OPERATION" => Self::Unsupported,
            "CONTENT_TYPE_NOT_SUPPORTED" => Self::ContentType,
            "INVALID_AGENT_RESPONSE" => Self::InvalidAgentResponse,
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED" => Self::NoExtendedCard,
            "EXTENSION_SUPPORT_REQUIRED" => Self::ExtensionRequired,
            "VERSION_NOT_SUPPORTED" => Self::VersionNotSupported,
            "RESOURCE_EXHAUSTED" => Self::TooMany,
            "UNAVAILABLE" => Self::Unavailable,
            _ => return None,
        })
    }

    /// The meaning of an HTTP status, for bodies without a better one.
    pub const fn of_status(status: u16) -> Self {
        match status {
            400 => Self::InvalidRequest,
            401 => Self::Unauthenticated,
            403 => Self::Forbidden,
            404 | 405 | 501 => Self::NoEndpoint,
            415 => Self::ContentType,
            429 => Self::TooMany,
            503 => Self::Unavailable,
            500..=599 => Self::Internal,
            _ => Self::Other,
        }
    }

    /// The same, corrected by the message: some peers use one code for every error.
    pub fn in_words(self, message: &str) -> Self {
        let is_vague =
            matches!(self, Self::Internal | Self::InvalidParams | Self::Unsupported | Self::NoEndpoint | Self::Other);
        let words = message.to_lowercase();
        let says = |text: &str| words.contains(text);
        // A 404 from a web server is about the URL, not about a task, unless the message mentions one.
        let names_task = self != Self::NoEndpoint || says("task");
        if !is_vague {
            self
        } else if says("not found") && names_task {
            Self::TaskNotFound
        } else if says("not cancelable") || says("not cancellable") || says("cannot be cancel") {
            Self::NotCancelable
        } else if says("terminal") {
            Self::Ended
        } else {
            self
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
