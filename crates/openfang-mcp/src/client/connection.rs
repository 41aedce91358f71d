//! A conversation with a server, in a revision that both speak. Requests of it run concurrently.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use openfang_types::jsonrpc::{Id, encode_error, encode_notification, encode_result, one_line};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use super::inbox::Inbox;
use super::ongoing::{Listener, Ongoing, Silent, Step};
use super::wire::{Outgoing, Wire};
use super::{ClientError, Notice, Question, ServerFacts};
use crate::capabilities::ClientCapabilities;
use crate::meta::LogLevel;
use crate::revision::{Era, Revision};

/// A conversation. Cheap to clone; it ends when the last clone, and with it the wire, is gone.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    wire: Arc<dyn Wire>,
    inbox: Arc<Inbox>,
    facts: ServerFacts,
    declared: ClientCapabilities,
    tracker: TaskTracker,
}

/// A request to be made.
pub struct Asked<'a> {
    /// The method.
    pub method: &'a str,
    /// What it names: a tool, a prompt or a resource.
    pub named: Option<&'a str>,
    /// The parameters, without `_meta`.
    pub members: Members,
    /// Members of `_meta` that are passed on as they are.
    pub meta: Option<&'a RawValue>,
    /// From which level on log lines are wanted; only a modern server is told so with each request.
    pub log_level: Option<LogLevel>,
    /// Headers that repeat arguments.
    pub mirrored: Vec<(HeaderName, HeaderValue)>,
    /// What the server may ask for with this one request; only a modern server is told so each time.
    pub declared: Option<ClientCapabilities>,
    /// Whether the server may ask whoever calls. Only for a connection that makes no other call meanwhile.
    pub takes_questions: bool,
    /// How long it may take without a sign of progress.
    pub timeout: Duration,
}

impl<'a> Asked<'a> {
    /// A plain request.
    pub const fn new(method: &'a str, members: Members, timeout: Duration) -> Self {
        Self {
            method,
            named: None,
            members,
            meta: None,
            log_level: None,
            mirrored: Vec::new(),
            declared: None,
            takes_questions: false,
            timeout,
        }
    }
}

/// The members of an object, as they are written one after the other.
#[derive(Debug, Clone, Default)]
pub struct Members(String);

impl Members {
    /// No members.
    pub const fn none() -> Self {
        Self(String::new())
    }

    /// Adds a member.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        // Our own types are always written; a member that cannot be is left out.
        if let Ok(value) = serde_json::to_string(value) {
            let comma = if self.0.is_empty() { "" } else { "," };
            self.0.push_str(&format!("{comma}\"{name}\":{value}"));
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
            let comma = if self.0.is_empty() { "" } else { "," };
            self.0.push_str(comma);
            self.0.push_str(inner);
        }
        self
    }
}

impl Connection {
    pub(super) fn new(
        wire: Arc<dyn Wire>,
        inbox: Arc<Inbox>,
        facts: ServerFacts,
        (declared, tracker): (ClientCapabilities, TaskTracker),
    ) -> Self {
        Self { inner: Arc::new(Inner { wire, inbox, facts, declared, tracker }) }
    }

    /// Who the server is, and what it has.
    pub fn facts(&self) -> &ServerFacts {
        &self.inner.facts
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.inner.facts.revision
    }

    /// What the server may ask for on this connection.
    pub fn declared(&self) -> ClientCapabilities {
        self.inner.declared
    }

    /// Makes a request and waits for its result.
    pub async fn request(&self, asked: Asked<'_>, listener: &dyn Listener) -> Result<Box<RawValue>, ClientError> {
        match self.begin(asked)?.advance(listener).await? {
            Step::Done(result) => Ok(result),
            Step::Asked(_) => Err(ClientError::NotMcp("it asked where nobody can be asked".to_owned())),
        }
    }

    /// Makes a plain request and waits for its result.
    pub async fn ask(&self, method: &str, members: Members, timeout: Duration) -> Result<Box<RawValue>, ClientError> {
        self.request(Asked::new(method, members, timeout), &Silent).await
    }

    /// Begins a request.
    pub fn begin(&self, asked: Asked<'_>) -> Result<Ongoing, ClientError> {
        let (id, slot) = self.inner.inbox.expect(asked.takes_questions)?;
        let timeout = asked.timeout;
        let outgoing = Outgoing {
            id,
            method: asked.method.into(),
            named: asked.named.map(Into::into),
            body: self.encoded(id, &asked),
            mirrored: asked.mirrored,
        };
        let exchange = Arc::clone(&self.inner.wire).request(outgoing);
        Ok(Ongoing::new(self.clone(), id, slot, exchange, timeout))
    }

    /// Tells the server something.
    pub async fn notify(&self, method: &str, members: Members) -> Result<(), ClientError> {
        let params = RawValue::from_string(format!("{{{}}}", members.0)).ok().filter(|_| !members.0.is_empty());
        self.tell(encode_notification(method, params.as_deref()).into()).await
    }

    /// Answers a question.
    pub async fn reply(
        &self,
        question: &Question,
        answer: Result<&RawValue, openfang_types::jsonrpc::ErrorObject>,
    ) -> Result<(), ClientError> {
        self.tell(match answer {
            Ok(result) => encode_result(&question.id, result).into(),
            Err(error) => encode_error(Some(&question.id), &error).into(),
        })
        .await
    }

    /// Hears what the server says of its own accord.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.inner.inbox.notices()
    }

    /// Why the conversation is over, if it is.
    pub fn ended(&self) -> Option<ClientError> {
        self.inner.inbox.ended()
    }

    /// Returns when the conversation is over, and says why.
    pub async fn over(&self) -> ClientError {
        self.inner.inbox.over().await;
        self.ended().unwrap_or(ClientError::SessionGone)
    }

    /// The last lines of the server's stderr.
    pub fn last_words(&self) -> Vec<String> {
        self.inner.wire.last_words()
    }

    /// Ends the conversation, and says why to whoever waits.
    pub fn close(&self, why: &str) {
        self.inner.inbox.end(&ClientError::Lost(why.to_owned()));
        self.inner.wire.close();
    }

    /// Listens for what the server says of its own accord; ends when it does, or soon.
    pub(super) async fn listen(&self) {
        Arc::clone(&self.inner.wire).listen().await;
    }

    /// What outlives whoever asked for it runs here.
    pub(super) fn tracker(&self) -> &TaskTracker {
        &self.inner.tracker
    }

    pub(super) fn inbox(&self) -> &Inbox {
        &self.inner.inbox
    }

    /// Nobody waits for a request any more: the server is told to stop.
    pub(super) fn cancel(&self, id: i64) {
        self.inner.inbox.forget(id);
        if self.inner.wire.stops_when_dropped() || self.ended().is_some() {
            return;
        }
        let members = Members::none().with("requestId", &id).with("reason", "nobody waits for it any more");
        let this = self.clone();
        self.inner
            .tracker
            .spawn(async move { this.notify("notifications/cancelled", members).await });
    }

    async fn tell(&self, message: Bytes) -> Result<(), ClientError> {
        Arc::clone(&self.inner.wire).tell(message).await
    }

    fn encoded(&self, id: i64, asked: &Asked<'_>) -> Bytes {
        let mut meta = Members::none();
        if self.revision().era() == Era::Modern {
            meta = meta
                .with(PROTOCOL_VERSION, self.revision().name())
                .with(CLIENT_CAPABILITIES, &asked.declared.unwrap_or(self.inner.declared).declared())
                .with(CLIENT_INFO, &ClientInfo::ours())
                .with_some(LOG_LEVEL, asked.log_level.as_ref());
        }
        if reports_progress(asked.method) {
            meta = meta.with("progressToken", &id);
        }
        if let Some(more) = asked.meta {
            meta = meta.with_all(more);
        }
        encode(&Id::Number(id), asked.method, &asked.members, &meta)
    }
}

/// Requests that may take a while.
fn reports_progress(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Who we are.
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

fn encode(id: &Id, method: &str, members: &Members, meta: &Members) -> Bytes {
    let id = serde_json::to_string(id).unwrap_or_default();
    let method = serde_json::to_string(method).unwrap_or_default();
    let mut params = members.0.clone();
    if !meta.0.is_empty() {
        let comma = if params.is_empty() { "" } else { "," };
        params.push_str(&format!("{comma}\"_meta\":{{{}}}", meta.0));
    }
    let frame = match params.is_empty() {
        true => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}}}"),
        false => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{{{params}}}}}"),
    };
    one_line(frame.into_bytes()).into()
}
