//! Headers that repeat what a body says, for proxies that do not read bodies: their names, and how a text becomes one.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};

/// The method of a request.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt or resource that a request names.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the header of an argument begins with.
pub(crate) const PARAM_PREFIX: &str = "mcp-param-";

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// The header that repeats the argument with this mark; none if that cannot be a header's name.
pub(crate) fn param(mark: &str) -> Option<HeaderName> {
    let mut name = String::with_capacity(PARAM_PREFIX.len() + mark.len());
    name.push_str(PARAM_PREFIX);
    name.push_str(mark);
    HeaderName::from_bytes(name.as_bytes()).ok()
}

/// A text as a header's value. What cannot stand in a header, or would be changed there, goes as `=?base64?...?=`.
pub(crate) fn encoded(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.starts_with(OPENING);
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::try_from(format!("{OPENING}{}{CLOSING}", STANDARD.encode(text))).ok()
}

/// The text of a header's value.
pub(crate) fn decoded(text: &str) -> Option<Cow<'_, str>> {
    match text.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING)) {
        None => Some(Cow::Borrowed(text)),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

#[cfg(test)]
#[path = "header_text_tests.rs"]
mod tests;
