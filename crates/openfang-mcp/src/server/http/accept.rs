//! What a client takes. Real clients send all sorts of `Accept`, so all sorts are fine: JSON, events, anything, nothing.

use http::{HeaderMap, header};

/// What a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accept {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accept {
    /// Nothing said means anything goes.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut accept = Self { json: false, events: false };
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        for range in values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')) {
            let kind = without_parameters(range);
            let is_any = |names: [&str; 3]| names.iter().any(|name| kind.eq_ignore_ascii_case(name.as_bytes()));
            accept.json |= is_any(["application/json", "application/*", "*/*"]);
            accept.events |= is_any(["text/event-stream", "text/*", "*/*"]);
        }
        if accept == (Self { json: false, events: false }) { Self { json: true, events: true } } else { accept }
    }
}

/// Whether the body is said to be JSON. A page of a stranger can send other types without asking first.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let kind = values.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    without_parameters(kind.as_bytes()).eq_ignore_ascii_case(b"application/json") && values.next().is_none()
}

/// As bytes: these texts are so short that a search made for long ones costs more than looking at each.
fn without_parameters(range: &[u8]) -> &[u8] {
    range.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
