//! Why a request has no result, and what each era says about it: one match for the code, one for the HTTP status.

use openfang_types::jsonrpc::{ErrorObject, code};
use serde_json::json;
use serde_json::value::RawValue;

use crate::call_task::TASKS_EXTENSION;
use crate::capabilities::Capability;
use crate::revision::{Era, Revision};

/// Codes of the modern era; a legacy peer never sees them.
const HEADER_MISMATCH: i64 = -32_020;
const MISSING_CAPABILITY: i64 = -32_021;
const UNSUPPORTED_VERSION: i64 = -32_022;
/// Code of the legacy era; a modern peer never sees it.
const RESOURCE_NOT_FOUND: i64 = -32_002;
/// A code of our own: the range is open to servers, in both eras.
const TOO_MUCH: i64 = -32_000;
/// Code of 2025-11-25 alone.
const URL_ELICITATION_REQUIRED: i64 = -32_042;

/// Why a request has no result. A tool that fails is not here: that is a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The method is not one of this revision.
    #[error("method not found: {0}")]
    UnknownMethod(String),
    /// The method does not take these parameters.
    #[error("{0}")]
    InvalidParams(String),
    /// There is none of that name, or not for this caller: the two look the same.
    #[error("unknown {what}: {name}")]
    Unknown {
        /// A tool, a prompt.
        what: &'static str,
        /// As the peer named it.
        name: String,
    },
    /// There is none, or not for this caller: the two look the same.
    #[error("resource not found: {uri}")]
    UnknownResource {
        /// As the peer named it.
        uri: String,
    },
    /// The cursor was not made by this server.
    #[error("the cursor is not valid; list again without one")]
    BadCursor,
    /// `_meta` of a modern request lacks something or holds something else.
    #[error("{0}")]
    BadMeta(String),
    /// A header and the body disagree.
    #[error("{0}")]
    HeaderMismatch(String),
    /// The request needs something that the client did not declare.
    #[error("this needs a client that declares {0}")]
    MissingCapability(Capability),
    /// The request is about tasks, and the client did not declare the extension.
    #[error("this needs a client that declares {TASKS_EXTENSION}")]
    MissingTasks,
    /// A revision we do not speak.
    #[error("protocol version {0} is not supported")]
    UnsupportedVersion(String),
    /// What the client was asked did not come back.
    #[error("the client did not answer: {0}")]
    NoAnswer(String),
    /// The client, or the server's end, stopped the work.
    #[error("the request was canceled")]
    Canceled,
    /// A request with this id is being worked on; the answers could not be told apart.
    #[error("a request with this id is being worked on; use another id")]
    DuplicateId,
    /// A limit was reached; waiting helps.
    #[error("{0}")]
    Busy(String),
    /// Too much of large requests and answers is under way; waiting helps.
    #[error("{0}")]
    TooMuch(String),
    /// What another server answered to the same request.
    #[error("{message}")]
    Relayed {
        code: i64,
        message: String,
        /// Its data, as JSON.
        data: Option<String>,
    },
    /// Our fault; the log says more.
    #[error("internal error")]
    Internal,
}

impl McpError {
    pub fn unknown_tool(name: &str) -> Self {
        Self::Unknown { what: "tool", name: shown(name) }
    }

    pub fn unknown_prompt(name: &str) -> Self {
        Self::Unknown { what: "prompt", name: shown(name) }
    }

    pub fn unknown_resource(uri: &str) -> Self {
        Self::UnknownResource { uri: shown(uri) }
    }

    /// There is none, or not for this caller: the two look the same.
    pub fn unknown_skill(uri: &str) -> Self {
        Self::Unknown { what: "skill", name: shown(uri) }
    }

    /// There is none, it is no directory, or not for this caller: these look the same.
    pub fn no_directory(uri: &str) -> Self {
        Self::Unknown { what: "directory", name: shown(uri) }
    }

    /// Another's, unknown and removed ones look the same.
    pub fn unknown_task(id: &str) -> Self {
        Self::Unknown { what: "task", name: shown(id) }
    }

    /// As a peer of this revision reads it.
    pub fn to_object(&self, revision: Revision) -> ErrorObject {
        let plain = |code| ErrorObject::new(code, self.to_string());
        let is_modern = revision.era() == Era::Modern;
        match self {
            Self::UnknownMethod(method) => ErrorObject::method_not_found(method),
            Self::UnknownResource { uri } if is_modern => plain(code::INVALID_PARAMS).with_data(&json!({ "uri": uri })),
            Self::UnknownResource { uri } => plain(RESOURCE_NOT_FOUND).with_data(&json!({ "uri": uri })),
            Self::InvalidParams(_) | Self::Unknown { .. } | Self::BadCursor | Self::BadMeta(_) => {
                plain(code::INVALID_PARAMS)
            }
            Self::HeaderMismatch(_) if is_modern => plain(HEADER_MISMATCH),
            Self::MissingCapability(needed) if is_modern => {
                plain(MISSING_CAPABILITY).with_data(&json!({ "requiredCapabilities": needed.declared() }))
            }
            Self::MissingTasks => {
                let needed = json!({ "extensions": { TASKS_EXTENSION: {} } });
                let code = if is_modern { MISSING_CAPABILITY } else { code::INVALID_REQUEST };
                plain(code).with_data(&json!({ "requiredCapabilities": needed }))
            }
            Self::UnsupportedVersion(asked) if is_modern => {
                let modern = Revision::all().filter(|revision| revision.era() == Era::Modern);
                let supported: Vec<&str> = modern.map(Revision::name).collect();
                plain(UNSUPPORTED_VERSION).with_data(&json!({ "supported": supported, "requested": asked }))
            }
            // The legacy era has no code for it, but a gateway in between may have a modern client.
            Self::MissingCapability(needed) => {
                plain(code::INVALID_REQUEST).with_data(&json!({ "requiredCapabilities": needed.declared() }))
            }
            Self::HeaderMismatch(_) | Self::UnsupportedVersion(_) | Self::DuplicateId => plain(code::INVALID_REQUEST),
            Self::NoAnswer(_) | Self::Canceled | Self::Busy(_) => plain(code::INTERNAL_ERROR),
            Self::TooMuch(_) => plain(TOO_MUCH),
            Self::Relayed { code, message, data } => {
                let code = relayed(*code, is_modern);
                let data = data.as_ref().and_then(|data| RawValue::from_string(data.clone()).ok());
                ErrorObject { code, message: message.clone(), data }
            }
            Self::Internal => ErrorObject::internal_error(),
        }
    }

    /// The status of the HTTP answer that carries it. In the legacy era a request that reached its method is answered
    /// with 200, whatever came of it.
    pub const fn status(&self, era: Era) -> u16 {
        match (self, era) {
            (
                Self::BadMeta(_)
                | Self::HeaderMismatch(_)
                | Self::MissingCapability(_)
                | Self::MissingTasks
                | Self::UnsupportedVersion(_),
                _,
            ) => 400,
            (Self::Relayed { code: HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION, .. }, Era::Modern) => {
                400
            }
            (Self::UnknownMethod(_), Era::Modern) => 404,
            (Self::Busy(_) | Self::TooMuch(_), Era::Modern) => 503,
            (
                Self::UnknownMethod(_)
                | Self::InvalidParams(_)
                | Self::Unknown { .. }
                | Self::UnknownResource { .. }
                | Self::BadCursor
                | Self::NoAnswer(_)
                | Self::Canceled
                | Self::DuplicateId
                | Self::Busy(_)
                | Self::TooMuch(_)
                | Self::Relayed { .. }
                | Self::Internal,
                _,
            ) => 200,
        }
    }
}

/// The code of another server's error, for a peer of an era: neither hears what only the other one has.
const fn relayed(code: i64, is_modern: bool) -> i64 {
    match code {
        RESOURCE_NOT_FOUND if is_modern => code::INVALID_PARAMS,
        URL_ELICITATION_REQUIRED if is_modern => code::INTERNAL_ERROR,
        HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION if !is_modern => code::INVALID_REQUEST,
        code => code,
    }
}

/// What is repeated of a name that a peer invented.
fn shown(name: &str) -> String {
    name.chars().take(128).collect()
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
