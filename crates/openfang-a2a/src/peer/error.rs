//! Why a peer refused, and why an answer could not be read.

use std::fmt;

/// What a call came to instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The peer refused, or failed.
    #[error("the agent answered: {0}")]
    Peer(Box<PeerError>),
    /// The answer has no meaning that we could find.
    #[error("the agent's answer cannot be read: {}", placed(at, why))]
    Unreadable {
        /// Which member, as a dotted path; empty: the whole.
        at: String,
        /// What is wrong with it.
        why: String,
    },
}

fn placed(at: &str, why: &str) -> String {
    if at.is_empty() { why.to_owned() } else { format!("`{at}`: {why}") }
}

/// A refusal of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerError {
    /// What it means.
    pub fault: Fault,
    /// The code of JSON-RPC, if there was one.
    pub code: Option<i64>,
    /// The status of HTTP, if there was one.
    pub status: Option<u16>,
    /// In the peer's words, shortened, on one line.
    pub message: String,
    /// The reason for programs, as `google.rpc.ErrorInfo` has it.
    pub reason: Option<String>,
    /// Whether the details blame the member `method`: that is how some peers say that they lack a method.
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
    /// Whether the request cannot have had an effect, so that it may be made again in another way.
    pub const fn had_no_effect(&self) -> bool {
        let is_unknown = matches!(self.fault, Fault::MethodNotFound | Fault::VersionNotSupported | Fault::NoEndpoint);
        is_unknown || (matches!(self.fault, Fault::InvalidRequest) && self.blames_method)
    }
}

/// What a refusal means, whichever words a peer has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The peer could not read the request at all.
    Parse,
    /// The peer took the request for none.
    InvalidRequest,
    /// The peer lacks the method.
    MethodNotFound,
    /// The peer does not take these parameters.
    InvalidParams,
    /// Something broke at the peer.
    Internal,
    /// There is no such task, or it is somebody else's.
    TaskNotFound,
    /// The task cannot be canceled.
    NotCancelable,
    /// The task has ended, so that nothing can be added to it or followed.
    Ended,
    /// The peer sends no pushes.
    PushNotSupported,
    /// The peer does not do that.
    Unsupported,
    /// The peer does not read or write such content.
    ContentType,
    /// The agent behind the peer answered nonsense.
    InvalidAgentResponse,
    /// The peer has no extended card.
    NoExtendedCard,
    /// The peer wants an extension to be named.
    ExtensionRequired,
    /// The peer does not speak this version.
    VersionNotSupported,
    /// Nothing answers at this address, or not to this verb.
    NoEndpoint,
    /// The peer wants a credential.
    Unauthenticated,
    /// The credential is not enough.
    Forbidden,
    /// Too many requests.
    TooMany,
    /// Not now.
    Unavailable,
    /// None of these.
    Other,
}

impl Fault {
    /// What a code of JSON-RPC and A2A means.
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

    /// What a reason of `google.rpc.ErrorInfo` means.
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

    /// What a status of HTTP means when the body says nothing better.
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

    /// The same, corrected by the words: some peers answer with one code for everything.
    pub fn in_words(self, message: &str) -> Self {
        let is_vague =
            matches!(self, Self::Internal | Self::InvalidParams | Self::Unsupported | Self::NoEndpoint | Self::Other);
        let words = message.to_lowercase();
        let says = |text: &str| words.contains(text);
        // What no server finds at an address is no task, unless the words say so.
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
