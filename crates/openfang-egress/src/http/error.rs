//! What can go wrong on the way to a URL. Each cap has its own variant. Texts carry the origin and never a path, a
//! query, a header or a body.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::sse::SseError;
use crate::url::{Origin, UrlRefused};

/// Why there is no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The name leads nowhere that may be reached.
    #[error(transparent)]
    Refused(#[from] UrlRefused),
    /// The answer sends us where we do not go.
    #[error("{from} redirects to a place that is refused: {cause}")]
    RedirectRefused {
        /// Who sends us there.
        from: Origin,
        /// Why not.
        #[source]
        cause: UrlRefused,
    },
    /// The name has no address.
    #[error("the name of {origin} cannot be resolved; check the spelling and the network")]
    Unresolvable {
        /// Where to.
        origin: Origin,
    },
    /// No address takes the connection.
    #[error("{origin} cannot be connected to ({kind}); check that it runs and can be reached from here")]
    Unreachable {
        /// Where to.
        origin: Origin,
        /// What the system says.
        kind: io::ErrorKind,
    },
    /// No connection in time.
    #[error("{origin} took no connection within {after:?}")]
    ConnectTimeout {
        /// Where to.
        origin: Origin,
        /// How long we waited.
        after: Duration,
    },
    /// The other end is not who it should be, or speaks no TLS.
    #[error("no secure connection to {origin}: {fault}")]
    Tls {
        /// Where to.
        origin: Origin,
        /// What is wrong.
        fault: TlsFault,
    },
    /// Connected, and no answer in time.
    #[error("{origin} did not begin to answer within {after:?}")]
    FirstByte {
        /// Where to.
        origin: Origin,
        /// How long we waited.
        after: Duration,
    },
    /// The body stopped coming.
    #[error("{origin} sent nothing more for {after:?}")]
    Stalled {
        /// Where from.
        origin: Origin,
        /// How long we waited.
        after: Duration,
    },
    /// All of it together took too long.
    #[error("{origin} was not done within {after:?}")]
    TookTooLong {
        /// Where from.
        origin: Origin,
        /// How long we waited.
        after: Duration,
    },
    /// The body is larger than the caller takes.
    #[error("the answer of {origin} is larger than {limit} bytes")]
    TooLarge {
        /// Where from.
        origin: Origin,
        /// How much is taken.
        limit: u64,
    },
    /// The body grows out of proportion when it is decoded.
    #[error("the answer of {origin} expands to more than {ratio} times its size")]
    Bomb {
        /// Where from.
        origin: Origin,
        /// How much growth is taken.
        ratio: u64,
    },
    /// An encoding that was not asked for.
    #[error("the answer of {origin} has an encoding that was not asked for")]
    UnsupportedEncoding {
        /// Where from.
        origin: Origin,
    },
    /// The encoded body is damaged, cut, or followed by something else.
    #[error("the compressed answer of {origin} is damaged")]
    Corrupt {
        /// Where from.
        origin: Origin,
    },
    /// The connection broke.
    #[error("the connection to {origin} {how}")]
    Interrupted {
        /// Where to.
        origin: Origin,
        /// How it ended.
        how: Interruption,
    },
    /// What came is not HTTP.
    #[error("the answer of {origin} is not valid http")]
    BadResponse {
        /// Where from.
        origin: Origin,
    },
    /// Sent on and on.
    #[error("{origin} redirects once more after {limit} redirects")]
    TooManyRedirects {
        /// Who sends us on.
        origin: Origin,
        /// How many are followed.
        limit: u32,
    },
    /// Sent from https to http.
    #[error("{from} redirects to {to} without encryption, which is not followed")]
    Downgrade {
        /// Who sends us there.
        from: Origin,
        /// Where to.
        to: Origin,
    },
    /// Sent on with our body in hand.
    #[error("{from} redirects a request with a body to {to}, which is not followed; use the new url if it is meant")]
    BodyAcrossOrigins {
        /// Who sends us there.
        from: Origin,
        /// Where to.
        to: Origin,
    },
    /// It failed too often lately.
    #[error("{origin} failed repeatedly and is left alone for another {retry_after:?}")]
    CircuitOpen {
        /// Where to.
        origin: Origin,
        /// When to try again.
        retry_after: Duration,
    },
    /// Its addresses are sent to as fast as the caller allows.
    #[error("the addresses of {origin} were sent enough lately; try again in {retry_after:?}")]
    TooFast {
        /// Where to.
        origin: Origin,
        /// When to try again.
        retry_after: Duration,
    },
    /// The stream of events is more than is taken.
    #[error("the event stream of {origin} cannot be followed: {cause}")]
    Events {
        /// Where from.
        origin: Origin,
        /// Why.
        #[source]
        cause: SseError,
    },
    /// A header that the door sets itself.
    #[error("the header {name} is set by the door and cannot be given")]
    ReservedHeader {
        /// Which one.
        name: http::HeaderName,
    },
    /// CONNECT or TRACE.
    #[error("the method {method} is not sent")]
    Method {
        /// Which one.
        method: http::Method,
    },
    /// There is no client.
    #[error("the http client cannot be set up: {cause}; check the system's certificates")]
    Setup {
        /// Why.
        #[source]
        cause: reqwest::Error,
    },
}

/// What is wrong with the other end's TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// Signed by nobody we trust.
    UntrustedIssuer,
    /// Not valid now.
    OutOfDate,
    /// For another name.
    WrongName,
    /// Refused for another reason.
    BadCertificate,
    /// No handshake came about.
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

/// How a connection ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// Thrown away by the other end.
    Reset,
    /// Closed before the answer was complete.
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
    /// The word in spans and metrics.
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

    /// Whether the origin was tried and failed, rather than refused, left alone or misunderstood.
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

    /// Whether the same request may fare better a moment later.
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
