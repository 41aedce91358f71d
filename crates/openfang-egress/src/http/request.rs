//! What is asked for, and how much patience and room the answer gets.

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

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Where the operator said.
    Operator(OperatorUrl),
    /// Where somebody else said.
    Foreign(ForeignUrl),
}

impl Target {
    /// Who named it.
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

/// How long each step may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until connected: name, TCP and TLS.
    pub connect: Duration,
    /// From then until the answer begins.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// Everything together; none for streams that last.
    pub total: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: HTTP_CONNECT, first_byte: HTTP_FIRST_BYTE, idle: HTTP_IDLE, total: Some(HTTP_TOTAL) }
    }
}

/// How much is taken of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of the body, decoded.
    pub decoded_bytes: u64,
    /// How many times larger than on the wire.
    pub ratio: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { decoded_bytes: HTTP_DECODED_MAX_BYTES, ratio: HTTP_RATIO }
    }
}

/// Whether the request may be sent again when it is not known what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// Once and never again.
    #[default]
    Never,
    /// Sending it twice does no harm.
    Safe,
}

/// Which redirects are followed; the others are answers like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// All, as a browser does: what was sent may become a question without a body.
    #[default]
    Any,
    /// Only those that ask for the same request once more.
    Unchanged,
}

/// Whether the body may come compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Welcome,
    /// Buffers on the way would hold events back.
    Unwanted,
}

/// Who says how fast addresses may be sent to.
pub trait Pacer: Send + Sync {
    /// Takes one request to whichever of these addresses is dialled, or says how long to wait.
    fn take(&self, addresses: &[IpAddr]) -> Result<(), Duration>;
}

/// One request.
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
    /// A request with the default patience and caps, no headers and no body.
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

    /// Adds a header that may follow redirects to other origins.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Adds a header that is shown to the target's origin only: keys, tokens, session ids.
    #[must_use]
    pub fn secret_header(self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.header(name, value)
    }

    /// Sets all headers at once. Values that are marked as sensitive are shown to the target's origin only.
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

    /// Sets how long each step may take.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how much is taken of the answer.
    #[must_use]
    pub fn caps(mut self, caps: Caps) -> Self {
        self.caps = caps;
        self
    }

    /// Says whether the request may be sent again.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Says which redirects are followed.
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// Asks this one before each hop. Names are resolved first, and only the addresses that it was asked about are dialled.
    #[must_use]
    pub fn paced_by(mut self, pacer: Arc<dyn Pacer>) -> Self {
        self.pacer = Some(pacer);
        self
    }

    /// Expects a stream of events: uncompressed, without an end in time or size, whatever patience and caps said before.
    /// Each event, their number and the silence between them stay limited.
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
