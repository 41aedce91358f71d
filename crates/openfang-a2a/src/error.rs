//! Why a request was refused, in A2A's own terms. Each dialect says it in its own way.

use openfang_types::task::TaskState;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum A2aError {
    /// Not JSON.
    #[error("the body is not JSON: {0}")]
    Parse(String),
    /// JSON, but no request.
    #[error("this is no request: {0}")]
    InvalidRequest(String),
    /// No such method here.
    #[error("there is no method {0}")]
    MethodNotFound(String),
    /// The method does not take these parameters.
    #[error("{}", placed(field, why))]
    InvalidParams {
        /// Which member, as a dotted path; empty: the whole.
        field: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// Our fault; the cause is in the log.
    #[error("something broke; the log says more")]
    Internal,
    /// The store cannot be written now.
    #[error("nothing can be stored now; try again later")]
    Unavailable,
    /// There is none, or it is somebody else's: the two look the same.
    #[error("task not found")]
    TaskNotFound,
    /// The task has no such push configuration.
    #[error("there is no such push configuration of this task; list them to see which it has")]
    PushNotFound,
    /// It has ended already.
    #[error("the task is already {0} and cannot be canceled")]
    NotCancelable(TaskState),
    /// Push is switched off.
    #[error("push notifications are not supported")]
    PushNotSupported,
    /// Not here, or not now.
    #[error("{0}")]
    Unsupported(String),
    /// A content type that cannot be taken, or given.
    #[error("{0}")]
    ContentType(String),
    /// There is no extended card.
    #[error("there is no extended card")]
    NoExtendedCard,
    /// There is no agent that the caller may see, and so no card.
    #[error("there is no agent here that you may see")]
    NoAgent,
    /// An extension that the agent insists on was not named.
    #[error("the agent needs the extension {0}; name it in the header A2A-Extensions")]
    ExtensionRequired(String),
    /// Not a version that we speak.
    #[error("version {0} of A2A is not spoken here; 0.3 and 1.0 are")]
    VersionNotSupported(String),
    /// A limit of the caller's own was reached.
    #[error("{0}")]
    TooMany(String),
    /// Too much of large requests and answers is under way.
    #[error("{0}")]
    TooMuch(String),
}

/// What is wrong with a member, and which it is.
fn placed(field: &str, why: &str) -> String {
    match why.starts_with('`') {
        // It is named; where that is shows only when it lies deeper.
        true if field.contains(['.', '[']) => format!("{why} (at `{field}`)"),
        true => why.to_owned(),
        false if field.is_empty() => why.to_owned(),
        false => format!("`{field}`: {why}"),
    }
}

impl A2aError {
    /// A parameter that cannot be taken.
    pub fn invalid(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::InvalidParams { field: field.into(), why: why.into() }
    }

    /// The code of JSON-RPC and A2A.
    pub const fn code(&self) -> i64 {
        match self {
            Self::Parse(_) => -32_700,
            Self::InvalidRequest(_) => -32_600,
            Self::MethodNotFound(_) => -32_601,
            Self::InvalidParams { .. } => -32_602,
            Self::Internal | Self::Unavailable => -32_603,
            Self::TaskNotFound | Self::PushNotFound => -32_001,
            Self::NotCancelable(_) => -32_002,
            Self::PushNotSupported => -32_003,
            Self::Unsupported(_) => -32_004,
            Self::ContentType(_) => -32_005,
            Self::NoExtendedCard | Self::NoAgent => -32_007,
            Self::ExtensionRequired(_) => -32_008,
            Self::VersionNotSupported(_) => -32_009,
            // None of A2A's own; the range is open to servers.
            Self::TooMany(_) | Self::TooMuch(_) => -32_000,
        }
    }

    /// The reason, as `google.rpc.ErrorInfo` has it.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Parse(_) => "PARSE_ERROR",
            Self::InvalidRequest(_) => "INVALID_REQUEST",
            Self::MethodNotFound(_) => "METHOD_NOT_FOUND",
            Self::InvalidParams { .. } => "INVALID_PARAMS",
            Self::Internal => "INTERNAL_ERROR",
            Self::Unavailable | Self::TooMuch(_) => "UNAVAILABLE",
            Self::TaskNotFound | Self::PushNotFound => "TASK_NOT_FOUND",
            Self::NotCancelable(_) => "TASK_NOT_CANCELABLE",
            Self::PushNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::Unsupported(_) => "UNSUPPORTED_OPERATION",
            Self::ContentType(_) => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::NoExtendedCard | Self::NoAgent => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            Self::ExtensionRequired(_) => "EXTENSION_SUPPORT_REQUIRED",
            Self::VersionNotSupported(_) => "VERSION_NOT_SUPPORTED",
            Self::TooMany(_) => "RESOURCE_EXHAUSTED",
        }
    }

    /// The HTTP status of HTTP+JSON, and the word of gRPC for it.
    pub const fn status(&self) -> (u16, &'static str) {
        match self {
            Self::Parse(_) | Self::InvalidRequest(_) | Self::InvalidParams { .. } | Self::ContentType(_) => {
                (400, "INVALID_ARGUMENT")
            }
            Self::MethodNotFound(_) => (404, "NOT_FOUND"),
            Self::TaskNotFound | Self::PushNotFound | Self::NoAgent => (404, "NOT_FOUND"),
            Self::Internal => (500, "INTERNAL"),
            Self::Unavailable | Self::TooMuch(_) => (503, "UNAVAILABLE"),
            Self::NotCancelable(_)
            | Self::PushNotSupported
            | Self::Unsupported(_)
            | Self::NoExtendedCard
            | Self::ExtensionRequired(_)
            | Self::VersionNotSupported(_) => (400, "FAILED_PRECONDITION"),
            Self::TooMany(_) => (429, "RESOURCE_EXHAUSTED"),
        }
    }
}
