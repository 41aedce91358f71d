//! One request to an agent: written in its dialect, sent over its binding, and its answer read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use openfang_egress::http::{Patience, Redirects, Request, Response, Retry};
use openfang_types::ids::TaskName;
use openfang_types::limits::{
    A2A_CLIENT_ANSWER_BYTES, A2A_CLIENT_SILENCE, A2A_INLINE_READ_BYTES, A2A_RETRY_AFTER_MAX, HTTP_CONNECT,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::error::ClientError;
use super::events::EventStream;
use super::interface::{Binding, Interface};
use super::site::{EXTENSIONS, LAST_EVENT_ID, OLD_EXTENSIONS, Site, VERSION};
use crate::dialect::{Dialect, PeerResponse, ReadContext, Verb};
use crate::operation::{Method, Operation, Request as Asking};
use crate::peer::{AnswerError, PeerAnswer, PeerError, PeerEvent};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ACCEPT_JSON: HeaderValue = HeaderValue::from_static("application/json, application/a2a+json");
const ACCEPT_EVENTS: HeaderValue =
    HeaderValue::from_static("text/event-stream, application/json, application/a2a+json");

/// A request to an agent.
pub(super) struct Call<'a> {
    pub(super) site: &'a Site,
    pub(super) interface: &'a Interface,
    /// The extensions that this client names.
    pub(super) extensions: &'a [String],
    /// Headers of this request, such as the trace.
    pub(super) extra: &'a HeaderMap,
    /// The time until the answer begins.
    pub(super) first_byte: Duration,
    /// The time until the answer is complete; none if it may take as long as it wants.
    pub(super) total: Option<Duration>,
    /// The event after which a stream is resumed.
    pub(super) resume_after: Option<&'a str>,
}

/// The answer to a request.
pub(super) enum Reply {
    Answer(PeerAnswer),
    /// The events of a task.
    Stream(EventStream),
}

#[derive(Serialize)]
struct Envelope<'a> {
    jsonrpc: &'static str,
    id: u8,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

/// Why a request has no answer.
pub(super) enum CallFailure {
    /// The agent refused it, and may say when to ask again.
    Peer(Box<PeerError>, Option<Duration>),
    Other(ClientError),
}

impl<E: Into<ClientError>> From<E> for CallFailure {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl Call<'_> {
    /// Sends an operation and reads the answer, or the beginning of a stream.
    pub(super) async fn perform(&self, operation: Operation) -> Result<Reply, ClientError> {
        self.exchange(operation).await.map_err(|failure| match failure {
            CallFailure::Peer(error, retry_after) => ClientError::refused(error, retry_after),
            CallFailure::Other(error) => error,
        })
    }

    /// The same, with a refusal in the agent's own words.
    pub(super) async fn exchange(&self, operation: Operation) -> Result<Reply, CallFailure> {
        let method = operation.method();
        let task = subject(&operation);
        let request = self.request(operation)?;
        let response = self.site.door.send(request).await.map_err(|error| ClientError::transport(&error))?;
        let is_success = response.status.is_success();
        if is_success && is_events(&response.headers) {
            return Ok(Reply::Stream(EventStream::of(
                response,
                self.interface.dialect,
                Arc::clone(&self.site.redactor),
            )));
        }
        let (status, retry_after) = (response.status.as_u16(), retry_after(&response.headers));
        let document = self.document(response).await?;
        let reading = Reading { dialect: self.interface.dialect, method, status, task, document };
        match reading.read().await {
            Ok(Read::Answer(answer)) => Ok(Reply::Answer(answer)),
            Ok(Read::Event(event)) => Ok(Reply::Stream(EventStream::single(*event))),
            Err(AnswerError::Peer(error)) => Err(CallFailure::Peer(error, retry_after)),
            Err(unreadable) => Err(ClientError::Unreadable(unreadable).into()),
        }
    }

    fn request(&self, operation: Operation) -> Result<Request, ClientError> {
        let method = operation.method();
        let asking = Asking { tenant: self.interface.tenant.clone(), operation };
        let (verb, url, body) = match self.interface.binding {
            Binding::JsonRpc => {
                let call = self.interface.dialect.write_rpc(&asking)?;
                let envelope = Envelope { jsonrpc: "2.0", id: 1, method: call.method, params: call.params.as_deref() };
                let body = serde_json::to_vec(&envelope).map_err(|error| ClientError::NotSent(error.to_string()))?;
                (Verb::Post, self.interface.url.clone(), Some(Bytes::from(body)))
            }
            Binding::HttpJson => {
                let call = self.interface.dialect.write_http(&asking)?;
                let url = below(&self.interface.url, &call.path, &call.query)?;
                let body = call.body.map(|body| Bytes::from(String::from(Box::<str>::from(body))));
                (call.verb, url, body)
            }
        };
        let target = self.site.target(&url).map_err(|error| ClientError::NotSent(error.to_string()))?;
        let patience = Patience {
            connect: HTTP_CONNECT.min(self.first_byte),
            first_byte: self.first_byte,
            idle: A2A_CLIENT_SILENCE,
            total: self.total,
        };
        let verb = match verb {
            Verb::Get => http::Method::GET,
            Verb::Post => http::Method::POST,
            Verb::Delete => http::Method::DELETE,
        };
        let retry = if method == Method::Get { Retry::Safe } else { Retry::Never };
        let redirects = match self.site.redirects {
            Redirects::None => Redirects::None,
            Redirects::Any | Redirects::Unchanged => Redirects::Unchanged,
        };
        let mut request = Request::new(verb, target).headers(self.headers(method)).redirects(redirects);
        if let Some(body) = body {
            request = request.body(JSON, body);
        }
        if is_streamed(method) {
            return Ok(request.patience(patience).for_events());
        }
        let caps = openfang_egress::http::Caps { decoded_bytes: A2A_CLIENT_ANSWER_BYTES, ..Default::default() };
        Ok(request.patience(patience).retry(retry).caps(caps))
    }

    fn headers(&self, method: Method) -> HeaderMap {
        let mut headers = self.site.headers();
        for (name, value) in self.extra {
            headers.insert(name.clone(), value.clone());
        }
        headers.insert(header::ACCEPT, if is_streamed(method) { ACCEPT_EVENTS } else { ACCEPT_JSON });
        if let Some(version) = self.interface.dialect.stated_version() {
            headers.insert(VERSION, HeaderValue::from_static(version));
        }
        if !self.extensions.is_empty() {
            let name = match self.interface.dialect {
                Dialect::V10 => EXTENSIONS,
                Dialect::V03 | Dialect::V03Proto | Dialect::V01 | Dialect::OpenFang => OLD_EXTENSIONS,
            };
            if let Ok(value) = HeaderValue::from_str(&self.extensions.join(", ")) {
                headers.insert(name, value);
            }
        }
        if let Some(cursor) = self.resume_after.and_then(|cursor| HeaderValue::from_str(cursor).ok()) {
            headers.insert(LAST_EVENT_ID, cursor);
        }
        headers
    }

    /// The body of an answer, without our secrets.
    async fn document(&self, response: Response) -> Result<Bytes, ClientError> {
        let body = response.body.at_most(A2A_CLIENT_ANSWER_BYTES);
        let reading = body.bytes();
        let bytes = match self.total {
            Some(total) => tokio::time::timeout(total, reading)
                .await
                .map_err(|_| ClientError::Interrupted(format!("the answer was not complete within {total:?}")))?,
            None => reading.await,
        };
        let bytes = bytes.map_err(|error| ClientError::transport(&error))?;
        match self.site.redactor.json(&bytes) {
            std::borrow::Cow::Borrowed(_) => Ok(bytes),
            std::borrow::Cow::Owned(clean) => Ok(clean.into()),
        }
    }
}

const fn is_streamed(method: Method) -> bool {
    matches!(method, Method::Stream | Method::Subscribe)
}

/// The task that an operation is about, where its answer may leave it out.
fn subject(operation: &Operation) -> Option<TaskName> {
    match operation {
        Operation::Get { task, .. } | Operation::Cancel { task } | Operation::Subscribe { task } => Some(task.clone()),
        _ => None,
    }
}

/// A path below an endpoint. The query of the endpoint itself is kept.
fn below(endpoint: &str, path: &str, query: &str) -> Result<String, ClientError> {
    let mut url = url::Url::parse(endpoint).map_err(|error| ClientError::NotSent(error.to_string()))?;
    let whole = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    let queries: Vec<&str> = url.query().into_iter().chain(Some(query)).filter(|one| !one.is_empty()).collect();
    let query = (!queries.is_empty()).then(|| queries.join("&"));
    url.set_query(query.as_deref());
    Ok(url.into())
}

pub(super) fn is_events(headers: &HeaderMap) -> bool {
    let named = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    named
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("text/event-stream")
}

/// When a busy server wants to be asked again. A date would need its clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(A2A_RETRY_AFTER_MAX))
}

/// A document that is about to be read.
struct Reading {
    dialect: Dialect,
    method: Method,
    status: u16,
    task: Option<TaskName>,
    document: Bytes,
}

enum Read {
    Answer(PeerAnswer),
    Event(Box<PeerEvent>),
}

impl Reading {
    /// Reads the document; a large one on a thread of its own.
    async fn read(self) -> Result<Read, AnswerError> {
        if self.document.len() <= A2A_INLINE_READ_BYTES {
            return self.read_here();
        }
        let abandoned = |_| AnswerError::Unreadable { at: String::new(), why: "reading it was abandoned".to_owned() };
        tokio::task::spawn_blocking(move || self.read_here()).await.map_err(abandoned)?
    }

    fn read_here(self) -> Result<Read, AnswerError> {
        let received = PeerResponse::response(self.status, &self.document);
        let context = ReadContext { now: Timestamp::now(), task: self.task.as_ref() };
        match is_streamed(self.method) {
            true => self.dialect.read_event(&received, &context).map(|event| Read::Event(Box::new(event))),
            false => self.dialect.read_answer(self.method, &received, &context).map(Read::Answer),
        }
    }
}
