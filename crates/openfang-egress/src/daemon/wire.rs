//! Traces the wire line by line. The token is never shown.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use openfang_types::limits::WIRE_TRACE_MAX_BYTES;
use openfang_types::secret::{REDACTED, Secret};

use super::Event;

type Show = Arc<dyn Fn(&str) + Send + Sync>;

/// Shows what is sent and received, if tracing is on.
#[derive(Clone, Default)]
pub struct WireTracer {
    show: Option<Show>,
    hidden: Option<Secret>,
    /// Shown instead of the request body.
    instead: Option<String>,
    hides_answers: bool,
}

impl fmt::Debug for WireTracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.show.is_some() { "WireTracer(on)" } else { "WireTracer(off)" })
    }
}

impl WireTracer {
    pub fn off() -> Self {
        Self::default()
    }

    /// Calls `show` with one line or one body at a time.
    pub fn to(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { show: Some(Arc::new(show)), ..Self::default() }
    }

    /// Hides a secret from now on.
    pub(super) fn hiding(mut self, secret: &Secret) -> Self {
        self.hidden = Some(secret.clone());
        self
    }

    /// Shows this instead of the request body from now on.
    pub(super) fn showing_instead(mut self, body: String) -> Self {
        self.instead = Some(body);
        self
    }

    /// Hides answers from now on.
    pub(super) fn hiding_answers(mut self) -> Self {
        self.hides_answers = true;
        self
    }

    pub(super) fn request(&self, request: &Request<Bytes>) {
        let Some(show) = &self.show else { return };
        show(&format!("> {} {}", request.method(), self.cleaned(request.uri().to_string().as_bytes())));
        if request.headers().contains_key(http::header::AUTHORIZATION) {
            show(&format!("> authorization: Bearer {REDACTED}"));
        }
        self.body('>', self.instead.as_deref().map_or(&**request.body(), str::as_bytes));
    }

    pub(super) fn status(&self, status: StatusCode) {
        if let Some(show) = &self.show {
            show(&format!("< {status}"));
        }
    }

    pub(super) fn answer(&self, body: &[u8]) {
        self.body('<', if self.hides_answers { REDACTED.as_bytes() } else { body });
    }

    pub(super) fn event(&self, event: &Event) {
        if let Some(show) = &self.show {
            show(&format!("< event: {}", self.cleaned(event.name.as_bytes())));
            self.body('<', event.data.as_bytes());
        }
    }

    fn body(&self, arrow: char, body: &[u8]) {
        if let Some(show) = &self.show
            && !body.is_empty()
        {
            let more =
                if body.len() > WIRE_TRACE_MAX_BYTES { format!("... ({} bytes)", body.len()) } else { String::new() };
            show(&format!("{arrow} {}{more}", self.cleaned(body)));
        }
    }

    /// The beginning of a text without the secret. The whole text is cleaned before it is cut: half a secret would not
    /// be recognized.
    fn cleaned(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        if let Some(secret) = &self.hidden {
            text = text.replace(secret.expose(), REDACTED);
        }
        text.truncate(text.floor_char_boundary(WIRE_TRACE_MAX_BYTES));
        text
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
