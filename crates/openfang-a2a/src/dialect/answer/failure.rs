//! Reads a peer's refusal: a JSON-RPC error, a `google.rpc.Status`, a problem document, plain text, or just an HTTP
//! status.

use openfang_types::limits::A2A_PEER_ERROR_MAX_CHARS;
use serde_json::Value;
use serde_json::value::RawValue;

use super::PeerResponse;
use super::members::{MemberReader, whole};
use crate::peer::{PeerError, PeerFault};

/// Reads a refusal. Any content counts as one; only its meaning has to be found.
pub(super) fn read(error: Option<&RawValue>, received: &PeerResponse<'_>) -> PeerError {
    let value = error.and_then(|error| serde_json::from_str(error.get()).ok());
    let (mut code, mut status) = (None, received.status.filter(|status| *status >= 400));
    let (mut message, mut details) = (None, Value::Null);
    match value {
        Some(Value::Object(members)) => {
            let mut members = MemberReader::from(members);
            match members.take(&["code"]).as_ref().and_then(whole) {
                // HTTP+JSON repeats the HTTP status as the code.
                Some(number @ 100..=599) => status = status.or(u16::try_from(number).ok()),
                other => code = other,
            }
            message = members.text(&["message", "detail", "title", "error", "error_description"]);
            details = members.take(&["data", "details", "detail"]).unwrap_or_default();
        }
        Some(Value::String(text)) => message = Some(text),
        Some(other) => details = other,
        None => message = str::from_utf8(received.body).ok().map(str::to_owned),
    }
    let message = shown(message, &details, status);
    let reason = reason(&details);
    let fault = code
        .and_then(PeerFault::of_code)
        .or_else(|| reason.as_deref().and_then(PeerFault::of_reason));
    let fault = fault
        .or_else(|| status.map(PeerFault::of_status))
        .unwrap_or(PeerFault::Other)
        .in_words(&message);
    PeerError { fault, code, status, message, reason, blames_method: blames(&details, "method") }
}

/// The peer's message on one line, or a substitute.
fn shown(message: Option<String>, details: &Value, status: Option<u16>) -> String {
    let text = message.unwrap_or_else(|| if details.is_null() { String::new() } else { details.to_string() });
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = text.trim().chars().take(A2A_PEER_ERROR_MAX_CHARS).map(plain).collect();
    match (text.is_empty(), status) {
        (false, _) => text,
        (true, Some(status)) => format!("HTTP status {status}"),
        (true, None) => "an error without a message".to_owned(),
    }
}

/// The reason of the first `ErrorInfo` in the details, or of the details themselves.
fn reason(details: &Value) -> Option<String> {
    let of = |detail: &Value| detail.get("reason").and_then(Value::as_str).map(str::to_owned);
    match details {
        Value::Array(details) => details.iter().find_map(of),
        one => of(one),
    }
}

/// Whether a string in the details equals the word: validators name the invalid member that way. The scan has bounded
/// the depth.
fn blames(details: &Value, word: &str) -> bool {
    match details {
        Value::String(text) => text == word,
        Value::Array(items) => items.iter().any(|item| blames(item, word)),
        Value::Object(members) => members.values().any(|held| blames(held, word)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
