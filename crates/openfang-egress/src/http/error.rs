//! Errors of outbound HTTP requests. Each limit has its own variant. Messages contain the origin and never a path, a
//! query, a header or a body.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::sse::SseError;
use crate::url::{Origin, UrlRefused};

/// Why there is no response, or only a part of it.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The URL must not be reached.
    #[error(transparent)]
    Refused(#[from] UrlRefused),
    /// The response redirects to a URL that must not be reached.
    #[error("{from} redirects to a url that is refused: {cause}")]
    RedirectRefused {
        /// The origin that redirects.
        from: Origin,
        #[source]
        cause: UrlRefused,
    },
    /// The name has no address.
    #[error("the name of {origin} cannot be resolved; check the spelling and the network")]
    Unresolvable { origin: Origin },
    /// No address accepts the connection.
    #[error("cannot connect to {origin} ({kind}); check that it is running and reachable from here")]
    Unreachable {
        origin: Origin,
        /// The error of the system.
        kind: io::ErrorKind,
    },
    /// The connect timeout has passed.
    #[error("{origin} did not accept a connection within {after:?}")]
    ConnectTimeout {
        origin: Origin,
        /// The timeout of this step.
        after: Duration,
    },
    /// The certificate is not valid for the host, or the peer does not speak TLS.
    #[error("cannot establish a secure connection to {origin}: {fault}")]
    Tls { origin: Origin, fault: TlsFault },
    /// Connected, but no response in time.
    #[error("{origin} did not respond within {after:?}")]
    FirstByte {
        origin: Origin,
        /// The timeout of this step.
        after: Duration,
    },
    #[error("{origin} sent nothing more for {after:?}")]
    Stalled {
        origin: Origin,
        /// The timeout of this step.
        after: Duration,
    },
    /// The total timeout has passed.
    #[error("{origin} did not finish within {after:?}")]
    TookTooLong {
        origin: Origin,
        /// The timeout of the whole request.
        after: Duration,
    },
    /// The body exceeds the size limit.
    #[error("the response of {origin} is larger than {limit} bytes")]
    TooLarge {
        origin: Origin,
        /// The size limit in bytes.
        limit: u64,
    },
    /// The body expands too much when it is decoded.
    #[error("the response of {origin} expands to more than {ratio} times its size")]
    Bomb {
        origin: Origin,
        /// The limit of the expansion ratio.
        ratio: u64,
    },
    /// The content encoding was not requested.
    #[error("the response of {origin} has a content encoding that was not requested")]
    UnsupportedEncoding { origin: Origin },
    /// The encoded body is damaged, truncated, or followed by other data.
    #[error("the compressed response of {origin} is damaged")]
    Corrupt { origin: Origin },
    #[error("the connection to {origin} {how}")]
    Interrupted { origin: Origin, how: Interruption },
    /// The response is not HTTP.
    #[error("the response of {origin} is not valid http")]
    BadResponse { origin: Origin },
    /// The limit of redirects is exceeded.
    #[error("{origin} redirects more than {limit} times")]
    TooManyRedirects {
        /// The origin that redirects.
        origin: Origin,
        /// The limit of redirects.
        limit: u32,
    },
    /// A redirect from https to http.
    #[error("{from} redirects to {to} without encryption, which is not followed")]
    Downgrade {
        /// The origin that redirects.
        from: Origin,
        to: Origin,
    },
    /// A redirect of a request body to another origin.
    #[error(
        "{from} redirects a request with a body to {to}, which is not followed; use the new url if this is intended"
    )]
    BodyAcrossOrigins {
        /// The origin that redirects.
        from: Origin,
        to: Origin,
    },
    /// The circuit breaker of the origin is open.
    #[error("{origin} failed repeatedly; retry in {retry_after:?}")]
    CircuitOpen {
        origin: Origin,
        /// When to try again.
        retry_after: Duration,
    },
    /// The pacer's limit for the addresses is reached.
    #[error("too many requests to the addresses of {origin}; retry in {retry_after:?}")]
    TooFast {
        origin: Origin,
        /// When to try again.
        retry_after: Duration,
    },
    /// The event stream exceeds a limit.
    #[error("the event stream of {origin} exceeds a limit: {cause}")]
    Events {
        origin: Origin,
        #[source]
        cause: SseError,
    },
    /// A header that only the client sets.
    #[error("the header {name} is set automatically and cannot be overridden")]
    ReservedHeader { name: http::HeaderName },
    #[error("the method {method} is not supported")]
    Method { method: http::Method },
    /// The HTTP client cannot be built.
    #[error("the http client cannot be set up: {cause}; check the system's certificates")]
    Setup {
        #[source]
        cause: reqwest::Error,
    },
}

/// Why the TLS handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The issuer of the certificate is not trusted.
    UntrustedIssuer,
    OutOfDate,
    WrongName,
    /// The certificate was rejected for another reason.
    BadCertificate,
    /// The handshake itself failed.
    Handshake,
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UntrustedIssuer => {
                "its certificate is signed by nobody we trust; add the issuer to the extra roots if it is yours"
            }
            Self::OutOfDate => "its certificate is expired or not valid yet",
            Self::WrongName => "its certificate is for another name",
            Self::BadCertificate => "its certificate is not accepted",
            Self::Handshake => "the handshake failed; does the port speak https?",
        })
    }
}

/// How a connection ended too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// The peer reset the connection.
    Reset,
    /// The connection closed before the response was complete.
    EndedEarly,
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reset => "was reset",
            Self::EndedEarly => "ended before the answer was complete",
        })
    }
}

impl HttpError {
    /// The name in spans and metrics.
    pub const fn outcome(&self) -> &'static str {
        match self {
            Self::Refused(_) | Self::RedirectRefused { .. } => "refused",
            Self::Unresolvable { .. } => "unresolvable",
            Self::Unreachable { .. } => "unreachable",
            Self::ConnectTimeout { .. } => "connect_timeout",
            Self::Tls { .. } => "tls",
            Self::FirstByte { .. } => "first_byte_timeout",
            Self::Stalled { .. } => "stalled",
            Self::TookTooLong { .. } => "total_timeout",
            Self::TooLarge { .. } => "too_large",
            Self::Bomb { .. } => "bomb",
            Self::UnsupportedEncoding { .. } => "unsupported_encoding",
            Self::Corrupt { .. } => "corrupt",
            Self::Interrupted { .. } => "interrupted",
            Self::BadResponse { .. } => "bad_response",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::Downgrade { .. } => "downgrade",
            Self::BodyAcrossOrigins { .. } => "body_across_origins",
            Self::CircuitOpen { .. } => "circuit_open",
            Self::TooFast { .. } => "too_fast",
            Self::Events { .. } => "events",
            Self::ReservedHeader { .. } | Self::Method { .. } => "bad_request",
            Self::Setup { .. } => "setup",
        }
    }

    /// Whether the origin was tried and failed, as opposed to a refusal or an open circuit.
    pub(super) const fn is_transport_failure(&self) -> bool {
        match self {
            Self::Unresolvable { .. }
            | Self::Unreachable { .. }
            | Self::ConnectTimeout { .. }
            | Self::Tls { .. }
            | Self::FirstByte { .. }
            | Self::TookTooLong { .. }
            | Self::Interrupted { .. }
            | Self::BadResponse { .. } => true,
            Self::Refused(_)
            | Self::RedirectRefused { .. }
            | Self::Stalled { .. }
            | Self::TooLarge { .. }
            | Self::Bomb { .. }
            | Self::UnsupportedEncoding { .. }
            | Self::Corrupt { .. }
            | Self::TooManyRedirects { .. }
            | Self::Downgrade { .. }
            | Self::BodyAcrossOrigins { .. }
            | Self::CircuitOpen { .. }
            | Self::TooFast { .. }
            | Self::Events { .. }
            | Self::ReservedHeader { .. }
            | Self::Method { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Whether a retry may succeed.
    pub(super) const fn is_worth_a_retry(&self) -> bool {
        matches!(
            self,
            Self::Unresolvable { .. }
                | Self::Unreachable { .. }
                | Self::ConnectTimeout { .. }
                | Self::Interrupted { .. }
        )
    }
}
