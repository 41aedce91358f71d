//! The only way to send outbound HTTP requests.
//!
//! [`HttpDoor::send`] takes a [`Request`] to an [`OperatorUrl`](crate::url::OperatorUrl) or a
//! [`ForeignUrl`](crate::url::ForeignUrl) and returns a [`Response`] whose [`Body`] is read on demand. Addresses are
//! checked before they are dialled, whether they are literal, resolved or the target of a redirect. Proxy variables of
//! the environment are ignored. Each limit on time, size, expansion and redirects ends a request with its own
//! [`HttpError`]. Errors, spans and metrics show no more of a URL than its origin.

use std::pin::pin;
use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument as _, Span, field};

use crate::resolve::{Resolve, SystemResolver};
use crate::url::{Guard, Origin};
use body::Deadline;
use circuit::Circuits;
use client::Clients;
use flight::Flight;

pub use body::Body;
pub use client::BadRoots;
pub(crate) use dial::pinned;
pub use error::{HttpError, Interruption, TlsFault};
pub use events::Events;
pub use metrics::HttpMetrics;
pub use proxy::{BadProxy, OperatorProxy, ProxyScope};
pub use request::{Caps, Pacer, Patience, Redirects, Request, Retry, Target};
pub use retry::Backoff;

mod body;
mod circuit;
mod classify;
mod client;
mod decode;
mod dial;
mod error;
mod events;
mod flight;
mod metrics;
mod proxy;
mod redirect;
mod request;
mod retry;

/// The settings of an [`HttpDoor`].
pub struct HttpConfig {
    /// Decides which addresses may be reached.
    pub guard: Guard,
    /// Trust roots in addition to the platform's, each a PEM text of one or more certificates.
    pub extra_roots: Vec<Vec<u8>>,
    /// Resolves names to addresses.
    pub resolver: Arc<dyn Resolve>,
    /// The proxy for operator URLs.
    pub proxy: Option<OperatorProxy>,
    /// The value of `User-Agent`.
    pub user_agent: String,
    /// The pauses between retries.
    pub backoff: Backoff,
    pub metrics: HttpMetrics,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            guard: Guard::default(),
            extra_roots: Vec::new(),
            resolver: Arc::new(SystemResolver),
            proxy: None,
            user_agent: concat!("OpenFang/", env!("CARGO_PKG_VERSION")).to_owned(),
            backoff: Backoff::default(),
            metrics: HttpMetrics::default(),
        }
    }
}

/// The outbound HTTP client. Clones are cheap and share connections and circuits.
#[derive(Clone)]
pub struct HttpDoor {
    clients: Arc<Clients>,
    circuits: Circuits,
    backoff: Backoff,
    metrics: HttpMetrics,
}

/// The head of a response, and its body.
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The origin that answered after all redirects.
    pub origin: Origin,
    /// The URL that answered after all redirects.
    pub target: Target,
    pub body: Body,
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("origin", &self.origin)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body", &self.body)
            .finish()
    }
}

impl HttpDoor {
    /// Creates a client. Only the extra roots are checked now; everything else is loaded by the first request.
    pub fn new(config: HttpConfig) -> Result<Self, BadRoots> {
        let (backoff, metrics) = (config.backoff, config.metrics.clone());
        let clients = Arc::new(Clients::new(config)?);
        Ok(Self { clients, circuits: Circuits::default(), backoff, metrics })
    }

    /// The guard that makes URLs for this client.
    pub fn guard(&self) -> &Guard {
        &self.clients.guard
    }

    /// Sends a request, follows redirects, and returns when the response begins. Dropping the future cancels the
    /// request.
    pub async fn send(&self, request: Request) -> Result<Response, HttpError> {
        let (reach, begun) = (request.target.reach(), Instant::now());
        let span = tracing::debug_span!(
            "http",
            method = %request.method,
            origin = %request.target.origin(),
            reach = reach.as_str(),
            outcome = field::Empty,
            status = field::Empty,
        );
        // Pinned first, because the span would otherwise move the whole future.
        let answer = pin!(self.within_total(request)).instrument(span.clone()).await;
        self.metrics.finished(reach, noted(&span, &answer), begun.elapsed());
        if let Err(error) = &answer {
            self.metrics.failed(error);
        }
        answer
    }

    async fn within_total(&self, request: Request) -> Result<Response, HttpError> {
        let origin = request.target.origin();
        let deadline = request.patience.total.and_then(Deadline::in_time);
        let flight = Flight::new(self, request, deadline)?;
        match deadline {
            None => flight.run().await,
            Some(Deadline { at, total }) => timeout_at(at, flight.run())
                .await
                .unwrap_or(Err(HttpError::TookTooLong { origin, after: total })),
        }
    }
}

/// Records the outcome in the span.
fn noted(span: &Span, answer: &Result<Response, HttpError>) -> &'static str {
    let outcome = match answer {
        Ok(response) => {
            span.record("status", response.status.as_u16());
            "answered"
        }
        Err(error) => error.outcome(),
    };
    span.record("outcome", outcome);
    outcome
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
