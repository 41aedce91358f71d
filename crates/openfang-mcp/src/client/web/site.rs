//! Where a server is, and how it is asked over HTTP: headers of the operator, patience, limits, and what errors say.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use openfang_egress::http::{HttpDoor, HttpError, Patience, Request, Response};
use openfang_egress::url::OperatorUrl;
use openfang_types::limits::{HTTP_CONNECT, MCP_HTTP_SILENCE, MCP_REFUSAL_BYTES, MCP_REFUSAL_SHOWN, MCP_REPLY};
use openfang_types::redact::Redactor;
use openfang_types::secret::REDACTED;

use super::super::ClientError;

/// What is taken as an answer, most wanted first.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Headers that are ours to set, beside all that begin with [`OURS`].
const RESERVED: [HeaderName; 11] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("last-event-id"),
];
const OURS: &str = "mcp-";

#[derive(Clone)]
pub(super) struct Site {
    pub(super) door: HttpDoor,
    pub(super) url: OperatorUrl,
    /// Headers of the operator; each may be a secret.
    secrets: HeaderMap,
    redactor: Arc<Redactor>,
}

impl Site {
    /// A place that is asked with these headers.
    pub(super) fn new(
        door: &HttpDoor,
        url: &OperatorUrl,
        headers: &[(HeaderName, HeaderValue)],
        redactor: &Arc<Redactor>,
    ) -> Result<Self, ClientError> {
        let mut secrets = HeaderMap::with_capacity(headers.len() + 8);
        for (name, value) in headers {
            if RESERVED.contains(name) || name.as_str().starts_with(OURS) {
                let why = format!("the header {name} is set by the protocol; remove it from the server's headers");
                return Err(ClientError::Start(why));
            }
            let mut value = value.clone();
            value.set_sensitive(true);
            secrets.append(name.clone(), value);
        }
        Ok(Self { door: door.clone(), url: url.clone(), secrets, redactor: Arc::clone(redactor) })
    }

    /// The same server at another of its URLs.
    pub(super) fn at(&self, url: OperatorUrl) -> Self {
        Self { url, ..self.clone() }
    }

    /// The headers of a message.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = self.secrets.clone();
        headers.insert(header::ACCEPT, BOTH);
        headers.insert(header::CONTENT_TYPE, JSON);
        headers
    }

    pub(super) fn message(&self, headers: HeaderMap, body: Bytes) -> Request {
        self.request(Method::POST, headers).body(JSON, body)
    }

    /// A message that is only taken, not answered; that does not take long.
    pub(super) fn short_message(&self, headers: HeaderMap, body: Bytes) -> Request {
        self.message(headers, body)
            .patience(Patience { total: Some(MCP_REPLY), ..Patience::default() })
    }

    /// A wish for a stream of events.
    pub(super) fn stream(&self, mut headers: HeaderMap) -> Request {
        headers.remove(header::CONTENT_TYPE);
        headers.insert(header::ACCEPT, EVENTS);
        self.request(Method::GET, headers)
    }

    /// A request whose answer may take as long as whoever waits for it allows.
    pub(super) fn request(&self, method: Method, headers: HeaderMap) -> Request {
        let patience =
            Patience { connect: HTTP_CONNECT, first_byte: MCP_HTTP_SILENCE, idle: MCP_HTTP_SILENCE, total: None };
        // An answer is events or a document, and only its head says which: the document is limited when it is read.
        Request::new(method, self.url.clone()).headers(headers).patience(patience).for_events()
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, ClientError> {
        self.door.send(request).await.map_err(|error| lost(&error))
    }

    /// Whether a message was taken.
    pub(super) async fn taken(&self, response: Response, session: Option<&HeaderValue>) -> Result<(), ClientError> {
        if !response.status.is_success() {
            return Err(self.refusal(response, session).await);
        }
        // A word of thanks that is read leaves the connection for the next message; anything longer is not waited for.
        let length = response
            .headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| (1..=MCP_REFUSAL_BYTES).contains(&length)) {
            drop(response.body.bytes().await);
        }
        Ok(())
    }

    /// Why a server said no, from its answer: short, printable, and without what only we and it should know.
    pub(super) async fn refusal(&self, mut response: Response, session: Option<&HeaderValue>) -> ClientError {
        let challenge = response.headers.get(header::WWW_AUTHENTICATE).map(HeaderValue::as_bytes);
        if let (StatusCode::UNAUTHORIZED, Some(challenge)) = (response.status, challenge) {
            let asked = shown(&self.without_secrets(&String::from_utf8_lossy(challenge), session));
            let said = format!("it wants a header Authorization ({asked}); {ANSWER}");
            return ClientError::Status { status: response.status.as_u16(), said };
        }
        let mut said = Vec::new();
        while said.len() < MCP_REFUSAL_BYTES {
            match response.body.chunk().await {
                Ok(Some(chunk)) => said.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        self.status(response.status.as_u16(), &said, session)
    }

    /// The error for a status and what came with it.
    pub(super) fn status(&self, status: u16, said: &[u8], session: Option<&HeaderValue>) -> ClientError {
        let said = &said[..said.len().min(MCP_REFUSAL_BYTES)];
        ClientError::Status { status, said: shown(&self.without_secrets(&String::from_utf8_lossy(said), session)) }
    }

    /// A server may repeat what it was sent.
    fn without_secrets(&self, text: &str, session: Option<&HeaderValue>) -> String {
        let mut text = self.redactor.text(text).into_owned();
        let values = self.secrets.values().chain(session).filter_map(|value| value.to_str().ok());
        for secret in values.flat_map(|value| [Some(value), value.split_once(' ').map(|(_, token)| token)]) {
            if let Some(secret) = secret.map(str::trim).filter(|secret| !secret.is_empty()) {
                text = text.replace(secret, REDACTED);
            }
        }
        text
    }
}

/// How a server that wants a credential is given one.
const ANSWER: &str = "store its token with `openfang secret set NAME`, and write Authorization = \"Bearer ${secret:NAME}\" in \
     the headers of the entry";

/// The first printable characters, on one line.
fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let printable = words.join(" ");
    printable.chars().filter(|letter| !letter.is_control()).take(MCP_REFUSAL_SHOWN).collect()
}

/// What became of a request that has no answer.
pub(super) fn lost(error: &HttpError) -> ClientError {
    let why = error.to_string();
    match error {
        HttpError::Refused(_)
        | HttpError::RedirectRefused { .. }
        | HttpError::Unresolvable { .. }
        | HttpError::Unreachable { .. }
        | HttpError::ConnectTimeout { .. }
        | HttpError::Tls { .. }
        | HttpError::TooManyRedirects { .. }
        | HttpError::Downgrade { .. }
        | HttpError::BodyAcrossOrigins { .. }
        | HttpError::CircuitOpen { .. }
        | HttpError::TooFast { .. }
        | HttpError::ReservedHeader { .. }
        | HttpError::Method { .. }
        | HttpError::Setup { .. } => ClientError::NotSent(why),
        HttpError::FirstByte { .. }
        | HttpError::Stalled { .. }
        | HttpError::TookTooLong { .. }
        | HttpError::Interrupted { .. } => ClientError::Lost(why),
        HttpError::TooLarge { .. }
        | HttpError::Bomb { .. }
        | HttpError::UnsupportedEncoding { .. }
        | HttpError::Corrupt { .. }
        | HttpError::BadResponse { .. }
        | HttpError::Events { .. } => ClientError::NotMcp(why),
    }
}
