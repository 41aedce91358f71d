//! What every message to a server says besides itself: the revision, the session, and the headers they come in.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use openfang_types::limits::MCP_SESSION_ID_BYTES;
use serde::Deserialize;

use super::super::ClientError;
use super::super::wire::Outgoing;
use crate::header_text;
use crate::revision::{Facts, Revision};
use crate::server::http::{PROTOCOL_VERSION, SESSION_ID};

/// The state of a conversation over Streamable HTTP.
pub(super) struct HttpConversation {
    pub(super) revision: Revision,
    has_session: bool,
    /// With the revision and the session.
    pub(super) headers: HeaderMap,
}

/// The headers of one message.
pub(super) struct Head {
    pub(super) headers: HeaderMap,
    /// The session that they name.
    pub(super) session: Option<HeaderValue>,
}

impl HttpConversation {
    pub(super) const fn new(headers: HeaderMap) -> Self {
        Self { revision: Revision::NEWEST, has_session: false, headers }
    }

    /// What the revision of the conversation has.
    pub(super) const fn facts(&self) -> &'static Facts {
        self.revision.facts()
    }

    pub(super) fn settle(&mut self, revision: Revision) {
        self.revision = revision;
        // The header came with 2025-06-18; older servers never heard of it.
        match revision >= Revision::V2025_06_18 {
            true => self.headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.name())),
            false => self.headers.remove(PROTOCOL_VERSION),
        };
    }

    /// The headers of a request. In the modern era they repeat what the body says.
    pub(super) fn head(&self, request: &Outgoing) -> Result<Head, ClientError> {
        let mut headers = self.headers.clone();
        if &*request.method == "initialize" {
            headers.remove(PROTOCOL_VERSION);
        }
        if self.facts().meta_required {
            let unfit = || ClientError::NotSent("what it names is too long for a header".to_owned());
            headers.insert(header_text::METHOD, header_text::encoded(&request.method).ok_or_else(unfit)?);
            if let Some(named) = &request.named {
                headers.insert(header_text::NAME, header_text::encoded(named).ok_or_else(unfit)?);
            }
            for (name, value) in &request.mirrored {
                headers.insert(name.clone(), value.clone());
            }
        }
        Ok(Head { session: headers.get(SESSION_ID).cloned(), headers })
    }

    /// The headers of a notification, or of an answer to a question.
    pub(super) fn head_of_told(&self, message: &[u8]) -> Head {
        #[derive(Deserialize)]
        struct SentMessage {
            method: String,
        }
        let mut headers = self.headers.clone();
        if self.facts().meta_required
            && let Ok(SentMessage { method }) = serde_json::from_slice(message)
            && let Some(method) = header_text::encoded(&method)
        {
            headers.insert(header_text::METHOD, method);
        }
        Head { session: headers.get(SESSION_ID).cloned(), headers }
    }

    /// Keeps the session that the server gave with its answer to `initialize`. Says whether it gave one.
    pub(super) fn begin_session(&mut self, answer: &HeaderMap) -> Result<bool, ClientError> {
        let Some(session) = answer.get(SESSION_ID) else { return Ok(false) };
        let is_visible = !session.is_empty() && session.as_bytes().iter().all(u8::is_ascii_graphic);
        if !is_visible || session.len() > MCP_SESSION_ID_BYTES {
            return Err(ClientError::NotMcp("the id of its session is not one".to_owned()));
        }
        let mut session = session.clone();
        session.set_sensitive(true);
        self.headers.insert(SESSION_ID, session);
        self.has_session = true;
        Ok(true)
    }

    /// The headers to end the session with, once.
    pub(super) fn end_session(&mut self) -> Option<HeaderMap> {
        let mut headers = std::mem::take(&mut self.has_session).then(|| self.headers.clone())?;
        headers.remove(CONTENT_TYPE);
        Some(headers)
    }
}
