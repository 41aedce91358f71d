//! Why a request was refused, in A2A's own terms. Each dialect encodes the refusal in its own way.

use openfang_types::task::TaskState;

/// The reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum A2aError {
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    Parse(String),
    /// The body is JSON but not a request.
    #[error("invalid request: {0}")]
    InvalidRequest(String),
    /// The method does not exist here.
    #[error("unknown method {0}")]
    MethodNotFound(String),
    /// The method does not accept these parameters.
    #[error("{}", placed(field, why))]
    InvalidParams {
        /// The member as a dotted path. Empty means the whole.
        field: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// An internal error. The cause is in the log.
    #[error("internal error; see the server log")]
    Internal,
    /// The store cannot be written at the moment.
    #[error("storage is unavailable; retry later")]
    Unavailable,
    /// The task does not exist or belongs to another caller. The two look the same.
    #[error("task not found")]
    TaskNotFound,
    /// The task has no such push configuration.
    #[error("this task has no such push configuration; list its configurations to see the ids")]
    PushNotFound,
    /// The task has ended already.
    #[error("the task is already {0} and cannot be canceled")]
    NotCancelable(TaskState),
    /// Push notifications are turned off.
    #[error("push notifications are not supported")]
    PushNotSupported,
    /// The operation is not supported, or not in this state.
    #[error("{0}")]
    Unsupported(String),
    /// A content type that cannot be read or written.
    #[error("{0}")]
    ContentType(String),
    /// The agent has no extended card.
    #[error("there is no extended card")]
    NoExtendedCard,
    /// The caller may see no agent, so there is no card.
    #[error("no agent is available to you here")]
    NoAgent,
    /// The request does not name an extension the agent requires.
    #[error("the agent needs the extension {0}; name it in the header A2A-Extensions")]
    ExtensionRequired(String),
    /// The version is not supported.
    #[error("A2A version {0} is not supported; use 0.3 or 1.0")]
    VersionNotSupported(String),
    /// A limit of this caller is exceeded.
    #[error("{0}")]
    TooMany(String),
    /// Too many large requests and answers are in progress.
    #[error("{0}")]
    TooMuch(String),
}

/// The reason, with the path of the member where that helps.
fn placed(field: &str, why: &str) -> String {
    match why.starts_with('`') {
        // The reason names the member already; the path helps only for nested members.
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

    /// The error code of JSON-RPC and A2A.
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
            // A2A defines no code for this; the range is open to servers.
            Self::TooMany(_) | Self::TooMuch(_) => -32_000,
        }
    }

    /// The reason in `google.rpc.ErrorInfo`.
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

    /// The HTTP status for HTTP+JSON, and the gRPC code.
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
