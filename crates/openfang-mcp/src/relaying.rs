//! What whoever relays frames must know of them: which of them want an answer, to which era each belongs, and which headers
//! it needs on its way over HTTP.

use http::{HeaderMap, HeaderName, HeaderValue};
use openfang_types::jsonrpc::{Id, IdRule, Incoming, decode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::header_text::{METHOD, NAME, encoded};
use crate::revision::{Era, Revision};
use crate::server::{StopReason, is_handshake, params};

/// The header with the session of a legacy client.
pub const SESSION_ID: HeaderName = crate::server::http::SESSION_ID;
/// The header with the revision that a client speaks.
pub const PROTOCOL_VERSION: HeaderName = crate::server::http::PROTOCOL_VERSION;
/// The header with the last event that a client has seen.
pub const LAST_EVENT_ID: HeaderName = crate::server::http::LAST_EVENT_ID;

/// A frame of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientFrame {
    /// `initialize` of the legacy era.
    Handshake(Id),
    Request(RelayedRequest),
    /// The client stops this request.
    Stop(Id, StopReason),
    /// A notification of this method.
    Notification(String),
    /// The answer to a question of the server.
    Reply(Id),
    /// Several messages at once, or none that can be read: the server says what is wrong.
    Other,
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedRequest {
    /// The id of its answer.
    pub id: Id,
    pub method: String,
    /// The era that the request itself says it belongs to.
    pub era: Era,
    /// The tool or the prompt that it names.
    pub name: Option<String>,
    /// The resource that it names.
    pub uri: Option<String>,
    version: Option<String>,
}

impl ClientFrame {
    pub fn read(frame: &[u8]) -> Self {
        match decode(frame, IdRule::Mcp) {
            Ok(Incoming::Request { id, method, params }) if is_handshake(&method, params) => Self::Handshake(id),
            Ok(Incoming::Request { id, method, params }) => Self::Request(RelayedRequest::read(id, &method, params)),
            Ok(Incoming::Notification { method, params }) => match canceled(&method, params) {
                Some((id, reason)) => Self::Stop(id, reason),
                None => Self::Notification(method.into_owned()),
            },
            Ok(Incoming::Response { id, .. }) => Self::Reply(id),
            Err(_) => Self::Other,
        }
    }
}

impl RelayedRequest {
    /// What cannot be read counts as missing: the server refuses it in its own words.
    fn read(id: Id, method: &str, params: Option<&RawValue>) -> Self {
        let (meta, named) = params::read(params).unwrap_or_default();
        let is_modern = meta.is_modern() || method == "server/discover";
        Self {
            id,
            method: method.to_owned(),
            era: if is_modern { Era::Modern } else { Era::Legacy },
            name: named.name,
            uri: named.uri,
            version: meta.protocol_version,
        }
    }

    /// The headers that repeat what a modern request says; none for a legacy one, whose session has its own.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.era == Era::Legacy {
            return headers;
        }
        let named = match self.method.as_str() {
            "tools/call" | "prompts/get" => self.name.as_deref(),
            "resources/read" => self.uri.as_deref(),
            _ => None,
        };
        let rows = [(PROTOCOL_VERSION, self.version.as_deref()), (METHOD, Some(&*self.method)), (NAME, named)];
        for (name, text) in rows {
            if let Some(value) = text.and_then(encoded) {
                headers.insert(name, value);
            }
        }
        headers
    }
}

/// The session that an answer to `initialize` begins: its id, and the header of its revision. None for a refusal.
pub fn begun_session(headers: &HeaderMap, answer: &[u8]) -> Option<(HeaderValue, HeaderValue)> {
    #[derive(Deserialize)]
    struct Answer {
        result: Initialized,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
    }
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    let revision = Revision::named(&answer.result.protocol_version)?;
    Some((headers.get(SESSION_ID)?.clone(), HeaderValue::from_static(revision.name())))
}

/// The request that a notification cancels, and why. Clients say only in words that they have waited long enough.
pub fn canceled(method: &str, params: Option<&RawValue>) -> Option<(Id, StopReason)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        request_id: Id,
        #[serde(borrow, default)]
        reason: Option<&'a RawValue>,
    }
    let params = params.filter(|_| method == "notifications/cancelled")?;
    let Params { request_id, reason } = serde_json::from_str(params.get()).ok()?;
    let said = reason.map_or_else(String::new, |reason| reason.get().to_lowercase());
    let is_late = ["timed out", "timeout", "time out"].iter().any(|words| said.contains(words));
    Some((request_id, if is_late { StopReason::TimedOut } else { StopReason::Unwanted }))
}

#[cfg(test)]
#[path = "relaying_tests.rs"]
mod tests;
