//! A request to be made, and how it is written: into one buffer, with what is relayed copied once.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use openfang_types::jsonrpc::one_line;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::call_task::TASKS_EXTENSION;
use crate::capabilities::ClientCapabilities;
use crate::meta::LogLevel;
use crate::revision::Revision;

/// A request to be made.
pub struct OutgoingRequest<'a> {
    pub method: &'a str,
    /// What it names: a tool, a prompt or a resource.
    pub named: Option<&'a str>,
    /// The parameters, without `_meta`.
    pub members: RawMembers,
    /// Members of `_meta` that are passed on as they are.
    pub meta: Option<&'a RawValue>,
    /// From which level on log lines are wanted; only a modern server is told so with each request.
    pub log_level: Option<LogLevel>,
    /// Headers that repeat arguments.
    pub mirrored: Vec<(HeaderName, HeaderValue)>,
    /// What the server may ask for with this one request; only a modern server is told so each time.
    pub declared: Option<ClientCapabilities>,
    /// Whether the server may answer with a task; only a modern server is told so.
    pub takes_tasks: bool,
    /// Whether the server may ask whoever calls. Only for a connection that makes no other call meanwhile.
    pub takes_questions: bool,
    /// Whether its connection makes no other call meanwhile: what has no address is then about this request.
    pub is_alone: bool,
    /// How long it may take without a sign of progress.
    pub timeout: Duration,
}

impl<'a> OutgoingRequest<'a> {
    pub const fn new(method: &'a str, members: RawMembers, timeout: Duration) -> Self {
        Self {
            method,
            named: None,
            members,
            meta: None,
            log_level: None,
            mirrored: Vec::new(),
            declared: None,
            takes_tasks: false,
            takes_questions: false,
            is_alone: false,
            timeout,
        }
    }

    /// The message; `meta` is what every request of its connection says.
    pub(super) fn encoded(&self, id: i64, mut meta: RawMembers) -> Bytes {
        // Only a modern server is told anything with every request.
        if !meta.0.is_empty() {
            meta = meta.with_some(LOG_LEVEL, self.log_level.as_ref());
        }
        if reports_progress(self.method) {
            meta = meta.with("progressToken", &id);
        }
        if let Some(more) = self.meta {
            meta = meta.with_all(more);
        }
        let (members, meta) = (self.members.0.as_slice(), meta.0.as_slice());
        let mut frame = Vec::with_capacity(members.len() + meta.len() + 128);
        // Writing to memory does not fail.
        let _ = write!(frame, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{}\"", self.method);
        if !members.is_empty() || !meta.is_empty() {
            frame.extend_from_slice(b",\"params\":{");
            frame.extend_from_slice(members);
            if !meta.is_empty() {
                frame.extend_from_slice(if members.is_empty() { b"\"_meta\":{" } else { b",\"_meta\":{" });
                frame.extend_from_slice(meta);
                frame.push(b'}');
            }
            frame.push(b'}');
        }
        frame.push(b'}');
        one_line(frame).into()
    }
}

/// The members of an object, as they are written one after the other.
#[derive(Debug, Clone, Default)]
pub struct RawMembers(Vec<u8>);

impl RawMembers {
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        let before = self.0.len();
        self.separate();
        // Writing to memory does not fail.
        let _ = write!(self.0, "\"{name}\":");
        // Our own types are always written; a member that cannot be is left out.
        if serde_json::to_writer(&mut self.0, value).is_err() {
            self.0.truncate(before);
        }
        self
    }

    /// Adds a member if there is a value.
    #[must_use]
    pub fn with_some<T: Serialize + ?Sized>(self, name: &str, value: Option<&T>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds the members of an object, as they are written there.
    #[must_use]
    pub fn with_all(mut self, object: &RawValue) -> Self {
        let inner = object.get().trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if let Some(inner) = inner.map(str::trim).filter(|inner| !inner.is_empty()) {
            self.separate();
            self.0.extend_from_slice(inner.as_bytes());
        }
        self
    }

    /// The object; none where there are no members.
    pub(super) fn object(&self) -> Option<Box<RawValue>> {
        if self.0.is_empty() {
            return None;
        }
        let text = [b"{", self.0.as_slice(), b"}"].concat();
        RawValue::from_string(String::from_utf8(text).ok()?).ok()
    }

    fn separate(&mut self) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
    }
}

/// What a modern server is told about its client with every request.
pub(super) fn said_of_us(revision: Revision, declared: ClientCapabilities, takes_tasks: bool) -> RawMembers {
    if !revision.facts().meta_required {
        return RawMembers::none();
    }
    let mut capabilities = declared.declared();
    if takes_tasks {
        capabilities["extensions"] = json!({ TASKS_EXTENSION: {} });
    }
    RawMembers::none()
        .with(PROTOCOL_VERSION, revision.name())
        .with(CLIENT_CAPABILITIES, &capabilities)
        .with(CLIENT_INFO, &ClientInfo::ours())
}

/// Requests that may take a while.
fn reports_progress(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[derive(Serialize)]
pub(super) struct ClientInfo {
    name: &'static str,
    version: &'static str,
}

impl ClientInfo {
    pub(super) const fn ours() -> Self {
        Self { name: "openfang", version: env!("CARGO_PKG_VERSION") }
    }
}
