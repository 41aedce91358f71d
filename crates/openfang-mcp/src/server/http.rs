//! The HTTP door: Streamable HTTP of every revision that has it, and the modern era's plain POST, on one endpoint.
//!
//! [`Server::serve_http`] takes a request whose caller is known and whose Host and Origin were checked, and returns a
//! response; it knows no web framework. `post.rs` decides the era and answers, `headers.rs` holds headers against the
//! body, `stream.rs` is what a response streams, `legacy_sse.rs` the transport of 2024-11-05.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use openfang_types::jsonrpc::{ErrorObject, encode_error};

use super::Server;
use super::respond::Frame;
use super::sessions::NoSession;
use crate::host::Host;

pub(super) use legacy_sse::SsePeers;
pub use pieces::Pieces;
pub use stream::EventBody;

mod accept;
mod batch;
mod detached;
mod headers;
mod legacy_sse;
mod pieces;
mod post;
mod sessions;
mod standing;
mod stream;

/// The session of a legacy client.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision a client speaks.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The last event that a client has seen.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Proxies that buffer would hold events back.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What a response carries.
pub enum HttpBody {
    Empty,
    Whole(Bytes),
    /// One document, in pieces.
    Pieces(Pieces),
    /// Events, as they come.
    Events(EventBody),
}

impl HttpBody {
    /// The whole document, for whoever sends it otherwise; none for events.
    pub fn into_document(self) -> Option<Bytes> {
        match self {
            Self::Empty => Some(Bytes::new()),
            Self::Whole(bytes) => Some(bytes),
            Self::Pieces(pieces) => Some(pieces.joined()),
            Self::Events(_) => None,
        }
    }
}

/// A request whose caller is known.
pub struct HttpRequest<C> {
    pub caller: C,
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl<H: Host> Server<H> {
    /// Answers a request to the endpoint.
    pub async fn serve_http(&self, request: HttpRequest<H::Caller>) -> Response<HttpBody> {
        let answer = match request.method {
            Method::POST => self.post(request).await,
            Method::GET => self.get_stream(&request),
            Method::DELETE => self.delete_session(&request).await,
            _ => Err(Refused::method()),
        };
        answer.unwrap_or_else(|refused| *refused.0)
    }
}

/// A request that was not carried out.
struct Refused(Box<Response<HttpBody>>);

impl Refused {
    fn new(status: StatusCode, error: &ErrorObject) -> Self {
        Self(Box::new(whole(status, encode_error(None, error))))
    }

    fn bad(error: &ErrorObject) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    fn method() -> Self {
        let error = ErrorObject::invalid_request("this endpoint takes POST");
        let mut refused = Self::new(StatusCode::METHOD_NOT_ALLOWED, &error);
        refused.0.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        refused
    }

    fn no_session(why: NoSession) -> Self {
        match why {
            NoSession::Unknown => {
                let error = ErrorObject::invalid_request("there is no such session: begin with initialize");
                Self::new(StatusCode::NOT_FOUND, &error)
            }
            NoSession::TooMany => Self::too_many("all sessions of this user are in use; end one"),
        }
    }

    /// The owner has as much as it may have.
    fn too_many(why: &str) -> Self {
        let mut refused = Self::new(StatusCode::TOO_MANY_REQUESTS, &ErrorObject::invalid_request(why));
        refused.0.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        refused
    }
}

fn whole(status: StatusCode, json: impl Into<Frame>) -> Response<HttpBody> {
    let body = match json.into().into_pieces() {
        [only, shared, _] if shared.is_empty() => HttpBody::Whole(only),
        pieces => HttpBody::Pieces(Pieces::new(pieces)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::Empty);
    *response.status_mut() = status;
    response
}

fn events(body: EventBody) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::Events(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(UNBUFFERED.0, UNBUFFERED.1);
    response
}

/// The one value of a header; twice is as bad as unreadable.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let wrong =
        || Refused::bad(&ErrorObject::invalid_request(format_args!("the header {name} must come once, as text")));
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong());
    }
    value.to_str().map(|text| Some(text.trim())).map_err(|_| wrong())
}
