//! The error object of a response, and the codes that JSON-RPC itself defines.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

/// The codes of JSON-RPC 2.0; the protocols add their own.
pub mod code {
    /// The frame is not JSON.
    pub const PARSE_ERROR: i64 = -32_700;
    /// JSON, but no request.
    pub const INVALID_REQUEST: i64 = -32_600;
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The method does not take these parameters.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// Our fault; the cause is in the log.
    pub const INTERNAL_ERROR: i64 = -32_603;
}

/// What an unknown method is cut to in the message.
const METHOD_SHOWN_CHARS: usize = 128;

/// Why a request has no result.
#[derive(Debug, Clone, Serialize, Deserialize, Error)]
#[error("{message} (code {code})")]
pub struct ErrorObject {
    pub code: i64,
    /// One sentence for a person.
    pub message: String,
    /// What the code's definition says, untouched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data; data that cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(self, data: &T) -> Self {
        Self { data: to_raw_value(data).ok(), ..self }
    }

    pub fn parse_error(detail: impl fmt::Display) -> Self {
        Self::new(code::PARSE_ERROR, format!("parse error: {detail}"))
    }

    pub fn invalid_request(detail: impl fmt::Display) -> Self {
        Self::new(code::INVALID_REQUEST, format!("invalid request: {detail}"))
    }

    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().take(METHOD_SHOWN_CHARS).collect();
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {shown}"))
    }

    pub fn invalid_params(detail: impl fmt::Display) -> Self {
        Self::new(code::INVALID_PARAMS, format!("invalid params: {detail}"))
    }

    /// -32603. Takes no detail: causes go to the log, not to the peer.
    pub fn internal_error() -> Self {
        Self::new(code::INTERNAL_ERROR, "internal error")
    }
}

impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_deref().map(|data| data.get().to_owned());
        (self.code, &self.message, data(self)) == (other.code, &other.message, data(other))
    }
}
