//! The HTTP view of the bindings. Headers are read here only: the core gets plain values.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, Response, StatusCode, header};
use openfang_types::ids::AgentName;

use super::{ServiceParameters, SseBody};

const VERSION: &str = "a2a-version";
const EXTENSIONS: [&str; 2] = ["a2a-extensions", "x-a2a-extensions"];

/// A request from an authenticated caller.
pub struct HttpRequest<C> {
    pub caller: C,
    /// The agent whose endpoint was called. None means the shared endpoint.
    pub agent: Option<AgentName>,
    pub method: HttpMethod,
    /// The query string, without the `?`.
    pub query: Option<String>,
    /// The service parameters of the request.
    pub parameters: ServiceParameters,
    /// Whether the content type is JSON. An empty body needs none.
    pub is_json: bool,
    /// The media types the caller accepts.
    pub accepts: Accepts,
    /// The complete body of the request.
    pub body: Bytes,
}

/// The media types a caller accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepts {
    pub a2a_json: bool,
    /// `text/event-stream` and no type in which an error could be written.
    pub events_only: bool,
}

/// The body of a response.
pub enum HttpBody {
    Empty,
    Whole(Bytes),
    /// A stream of server-sent events.
    Events(SseBody),
}

impl<C> HttpRequest<C> {
    /// Builds a request to the shared endpoint or to one agent.
    pub fn new(caller: C, agent: Option<AgentName>, head: Parts, body: Bytes) -> Self {
        let query = head.uri.query().map(str::to_owned);
        Self {
            caller,
            agent,
            method: head.method,
            parameters: parameters(&head.headers, query.as_deref()),
            is_json: is_json(&head.headers, &body),
            accepts: accepts(&head.headers),
            query,
            body,
        }
    }
}

/// The version can also come from the query; the header has precedence.
fn parameters(headers: &HeaderMap, query: Option<&str>) -> ServiceParameters {
    let text = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let in_query = || {
        let mut pairs = url::form_urlencoded::parse(query?.as_bytes());
        let found = pairs.find(|(key, _)| key.eq_ignore_ascii_case(VERSION));
        found.map(|(_, value)| value.into_owned())
    };
    let extensions = EXTENSIONS.iter().flat_map(|name| headers.get_all(*name));
    let uris = extensions.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
    ServiceParameters {
        version: text(VERSION).or_else(in_query),
        extensions: uris.map(|uri| uri.trim().to_owned()).collect(),
        last_event_id: text("last-event-id"),
    }
}

fn is_json(headers: &HeaderMap, body: &[u8]) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else { return body.is_empty() };
    let essence = content_type
        .to_str()
        .ok()
        .and_then(|text| text.split(';').next())
        .unwrap_or_default()
        .trim();
    essence.eq_ignore_ascii_case("application/json")
        || essence.eq_ignore_ascii_case("application/a2a+json")
        || essence.eq_ignore_ascii_case("application/json-rpc")
}

fn accepts(headers: &HeaderMap) -> Accepts {
    let texts = || headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let names = |wanted: &str| texts().any(|text| text.contains(wanted));
    let starts = |wanted: &str| texts().any(|text| text.split(',').any(|one| one.trim().starts_with(wanted)));
    Accepts {
        a2a_json: starts("application/a2a+json"),
        events_only: names("text/event-stream") && !names("json") && !names("*/*"),
    }
}

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Tells buffering proxies to pass events on immediately.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

pub(super) fn whole(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::Whole(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

pub(super) fn events(body: SseBody) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::Events(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(UNBUFFERED.0, UNBUFFERED.1);
    response
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
