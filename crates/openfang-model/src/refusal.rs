//! What a provider refuses, by one table for all wires. A refusal comes as a status with a body, or as an error object
//! within a stream that began with 200.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use openfang_types::limits::MODEL_WORDS_MAX_CHARS;

use crate::retry_after;
use crate::tools::cut;
use words::ErrorWords;

mod words;

/// A refusal of a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the provider refused the request{}: {}{message}", status_text(*status), kind.label())]
pub struct Refusal {
    pub kind: RefusalKind,
    /// The status of the response; none for an error within a stream.
    pub status: Option<u16>,
    /// The provider's own code, such as `overloaded_error`.
    pub code: Option<String>,
    /// The provider's own words, cut.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The provider's id of the request, for its support.
    pub request_id: Option<String>,
}

/// What a refusal means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalKind {
    /// Too many requests at the moment, or a fault of the server.
    Busy,
    /// The account has no credit left, or the quota of the day is used.
    Quota,
    ContextTooLong,
    /// The definition of the tool in this place is rejected.
    BadTool {
        index: usize,
    },
    /// A thought or its signature that was sent back is rejected.
    BadNative,
    /// The key is missing, wrong, or may not do this.
    Unauthorized,
    NoSuchModel,
    /// The provider's rules forbid the content.
    Blocked,
    /// The request is wrong in another way.
    BadRequest,
}

impl RefusalKind {
    const fn label(&self) -> &'static str {
        match self {
            Self::Busy => "it is busy or faulty: ",
            Self::Quota => "the credit or quota is used up: ",
            Self::ContextTooLong => "the conversation is too long for the model: ",
            Self::BadTool { .. } => "it rejects the definition of a tool: ",
            Self::BadNative => "it rejects an earlier thought of the model: ",
            Self::Unauthorized => "the API key is missing or not accepted: ",
            Self::NoSuchModel => "there is no such model: ",
            Self::Blocked => "its rules forbid the content: ",
            Self::BadRequest => "",
        }
    }
}

fn status_text(status: Option<u16>) -> String {
    status.map(|status| format!(" with status {status}")).unwrap_or_default()
}

impl Refusal {
    /// The refusal that a response is.
    pub fn of(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let words = ErrorWords::read(body);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut refusal = Self::judged(Some(status), words);
        refusal.retry_after = retry_after::of(headers).or(refusal.retry_after);
        refusal.request_id = header("request-id").or_else(|| header("x-request-id")).or(refusal.request_id);
        refusal
    }

    /// The refusal that an error object within a stream is.
    pub(crate) fn in_stream(json: &str) -> Self {
        Self::judged(None, ErrorWords::read(json.as_bytes()))
    }

    fn judged(status: Option<StatusCode>, words: ErrorWords) -> Self {
        let kind = kind(status, &words);
        let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("no reason given");
        let message = if words.message.is_empty() { reason.to_owned() } else { words.message };
        let message: String = message.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        Self {
            kind,
            status: status.map(|status| status.as_u16()),
            code: words.code.or(words.kind),
            message: cut(message, MODEL_WORDS_MAX_CHARS),
            retry_after: words.retry_delay,
            request_id: words.request_id,
        }
    }
}

/// The table, the most specific row first.
fn kind(status: Option<StatusCode>, words: &ErrorWords) -> RefusalKind {
    const QUOTA: &[&str] = &[
        "insufficient_quota",
        "credit_balance_exhausted",
        "enforced_spend_limit_reached",
        "billing_hard_limit_reached",
        "billing_error",
        "credit balance is too low",
        "perday",
    ];
    const CONTEXT: &[&str] = &[
        "context_length_exceeded",
        "exceed_context_size_error",
        "prompt is too long",
        "maximum context length",
        "context window",
        "exceeds the available context size",
        "input token count",
        "exceeds the maximum number of tokens",
        "model_context_window_exceeded",
        "request_too_large",
    ];
    const NATIVE: &[&str] = &[
        "invalid_encrypted_content",
        "thought signature",
        "thought_signature",
        "thinking block",
        "redacted_thinking",
        "signature in thinking",
        "invalid `signature`",
        "encrypted content",
        "reasoning item",
    ];
    const BLOCKED: &[&str] = &[
        "content_policy_violation",
        "content_filter",
        "moderation_blocked",
        "cyber_policy",
        "invalid_prompt",
        "image_content_policy_violation",
    ];
    const UNAUTHORIZED: &[&str] =
        &["authentication_error", "permission_error", "invalid_api_key", "api_key_invalid", "api key not valid"];
    const NO_MODEL: &[&str] = &["model_not_found", "not_found_error"];
    const BUSY: &[&str] = &[
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "api_error",
        "timeout_error",
        "unavailable",
        "resource_exhausted",
        "internal",
    ];

    let code = status.map_or(0, |status| status.as_u16());
    let is_client_error = matches!(code, 0 | 400 | 413 | 422);
    match code {
        _ if words.has(QUOTA) || code == 402 => RefusalKind::Quota,
        _ if words.has(BLOCKED) => RefusalKind::Blocked,
        _ if is_client_error && words.has(CONTEXT) || code == 413 => RefusalKind::ContextTooLong,
        _ if is_client_error && words.tool_index().is_some() => {
            RefusalKind::BadTool { index: words.tool_index().unwrap_or_default() }
        }
        _ if is_client_error && words.has(NATIVE) => RefusalKind::BadNative,
        401 | 403 => RefusalKind::Unauthorized,
        _ if words.has(UNAUTHORIZED) => RefusalKind::Unauthorized,
        404 => RefusalKind::NoSuchModel,
        _ if words.has(NO_MODEL) => RefusalKind::NoSuchModel,
        408 | 409 | 425 | 429 | 500.. => RefusalKind::Busy,
        0 if words.has(BUSY) || words.code.is_none() => RefusalKind::Busy,
        _ => RefusalKind::BadRequest,
    }
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
