//! A request, with its timeouts and limits.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use openfang_types::limits::{
    HTTP_CONNECT, HTTP_DECODED_MAX_BYTES, HTTP_FIRST_BYTE, HTTP_IDLE, HTTP_RATIO, HTTP_TOTAL,
};

use crate::url::{ForeignUrl, OperatorUrl, Origin, Reach};

/// The URL a request goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A URL from the operator.
    Operator(OperatorUrl),
    /// A URL from anybody else.
    Foreign(ForeignUrl),
}

impl Target {
    pub const fn reach(&self) -> Reach {
        match self {
            Self::Operator(_) => Reach::Operator,
            Self::Foreign(_) => Reach::Foreign,
        }
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> Origin {
        match self {
            Self::Operator(url) => url.origin(),
            Self::Foreign(url) => url.origin(),
        }
    }

    /// The whole URL, including secrets. Use it for resolving links, not for printing.
    pub fn as_str(&self) -> &str {
        self.url().as_str()
    }

    pub(super) const fn url(&self) -> &url::Url {
        match self {
            Self::Operator(url) => url.url(),
            Self::Foreign(url) => url.url(),
        }
    }
}

impl From<OperatorUrl> for Target {
    fn from(url: OperatorUrl) -> Self {
        Self::Operator(url)
    }
}

impl From<ForeignUrl> for Target {
    fn from(url: ForeignUrl) -> Self {
        Self::Foreign(url)
    }
}

/// The timeouts of each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until connected: name, TCP and TLS.
    pub connect: Duration,
    /// From the connection to the first byte of the response.
    pub first_byte: Duration,
    /// Between two chunks of the body.
    pub idle: Duration,
    /// The total time; none for long-lived streams.
    pub total: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: HTTP_CONNECT, first_byte: HTTP_FIRST_BYTE, idle: HTTP_IDLE, total: Some(HTTP_TOTAL) }
    }
}

/// The size limits of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The decoded size of the body in bytes.
    pub decoded_bytes: u64,
    /// The maximum ratio of decoded to encoded size.
    pub ratio: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { decoded_bytes: HTTP_DECODED_MAX_BYTES, ratio: HTTP_RATIO }
    }
}

/// Whether the request may be retried when its outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// Sent at most once.
    #[default]
    Never,
    /// Retrying has no side effects.
    Safe,
}

/// Which redirects are followed. The others are returned as responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// All, as in a browser: the request may become a GET without a body.
    #[default]
    Any,
    /// Only those that repeat the request unchanged.
    Unchanged,
    None,
}

/// Whether the body may come compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Welcome,
    /// Compression buffers would delay events.
    Unwanted,
}

/// Limits how often an address receives requests.
pub trait Pacer: Send + Sync {
    /// Admits one request to any of these addresses, or returns how long to wait.
    fn take(&self, addresses: &[IpAddr]) -> Result<(), Duration>;
}

#[derive(Clone)]
pub struct Request {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) patience: Patience,
    pub(super) caps: Caps,
    pub(super) retry: Retry,
    pub(super) redirects: Redirects,
    pub(super) compression: Compression,
    pub(super) pacer: Option<Arc<dyn Pacer>>,
}

impl Request {
    /// A request with default timeouts and limits, without headers and body.
    pub fn new(method: Method, target: impl Into<Target>) -> Self {
        Self {
            method,
            target: target.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            patience: Patience::default(),
            caps: Caps::default(),
            retry: Retry::default(),
            redirects: Redirects::default(),
            compression: Compression::Welcome,
            pacer: None,
        }
    }

    /// Adds a header that is also sent to other origins after a redirect.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Adds a header that is sent to the target's origin only: keys, tokens, session ids.
    #[must_use]
    pub fn secret_header(self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.header(name, value)
    }

    /// Sets all headers. Values marked as sensitive are sent to the target's origin only.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body and its type.
    #[must_use]
    pub fn body(mut self, media_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        self.headers.insert(header::CONTENT_TYPE, media_type);
        self.body = body.into();
        self
    }

    /// Sets the timeouts of each step.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the size limits of the response.
    #[must_use]
    pub fn caps(mut self, caps: Caps) -> Self {
        self.caps = caps;
        self
    }

    /// Sets whether the request may be retried.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets which redirects are followed.
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// Asks this pacer before each hop. Names are resolved first, and only the addresses the pacer admitted are
    /// dialled.
    #[must_use]
    pub fn paced_by(mut self, pacer: Arc<dyn Pacer>) -> Self {
        self.pacer = Some(pacer);
        self
    }

    /// Expects an event stream: uncompressed, without limits on total time and size, regardless of earlier settings.
    /// The size of an event, the number of events and the idle time stay limited.
    #[must_use]
    pub fn for_events(mut self) -> Self {
        self.compression = Compression::Unwanted;
        self.patience.total = None;
        self.caps.decoded_bytes = u64::MAX;
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("target", &self.target)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .field("patience", &self.patience)
            .field("caps", &self.caps)
            .field("retry", &self.retry)
            .field("redirects", &self.redirects)
            .finish_non_exhaustive()
    }
}
