//! Removes the JSON-RPC envelope of an answer, if there is one. The document itself shows whether there is.

use openfang_types::scan::scan_text;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{PeerResponse, failure};
use crate::peer::AnswerError;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A `null` result is a result.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The peer's answer without its envelope; an error if the peer refused.
pub(super) fn open<'a>(received: &PeerResponse<'a>) -> Result<&'a RawValue, AnswerError> {
    let body = received.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(received.body).trim_ascii();
    let refused = |error: Option<&RawValue>| Err(AnswerError::Peer(Box::new(failure::read(error, received))));
    if body.is_empty() {
        return if received.is_failure() { refused(None) } else { Ok(RawValue::NULL) };
    }
    let read = scan_text(body).map_err(|error| error.to_string());
    let read = read.and_then(|text| serde_json::from_str::<&RawValue>(text).map_err(|error| error.to_string()));
    let document = match read {
        Ok(document) => document,
        // Proxies in front of an agent answer with HTML and plain text.
        Err(_) if received.is_failure() => return refused(None),
        Err(why) => return Err(AnswerError::Unreadable { at: String::new(), why: format!("not JSON: {why}") }),
    };
    let envelope = match document.get().starts_with('{') {
        true => serde_json::from_str::<Envelope<'_>>(document.get()).ok(),
        false => None,
    };
    match envelope {
        Some(Envelope { error: Some(error), .. }) => refused(Some(error)),
        Some(_) | None if received.is_failure() => refused(Some(document)),
        Some(Envelope { result: Some(result), .. }) => Ok(result),
        Some(_) | None => Ok(document),
    }
}
