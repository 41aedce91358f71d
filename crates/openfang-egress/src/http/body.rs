//! The body of a response. It is read from the socket only on demand, so a slow reader slows the sender down and
//! nothing is buffered here. Every limit of the request applies until the last byte.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use openfang_types::limits::HTTP_RATIO_FLOOR_BYTES;
use tokio::time::{Instant, timeout, timeout_at};

use super::classify;
use super::decode::{Decoder, Step};
use super::metrics::HttpMetrics;
use super::request::Caps;
use super::{Events, HttpError};
use crate::sse::SseLimits;
use crate::url::Origin;

/// The time limit of the whole request, and its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) total: Duration,
}

impl Deadline {
    /// The deadline after this duration; none if the clock cannot represent it.
    pub(super) fn in_time(total: Duration) -> Option<Self> {
        Instant::now().checked_add(total).map(|at| Self { at, total })
    }
}

/// The limits that the body inherits from its request.
pub(super) struct BodyTerms {
    pub(super) origin: Origin,
    pub(super) caps: Caps,
    pub(super) idle: Duration,
    pub(super) deadline: Option<Deadline>,
    pub(super) metrics: HttpMetrics,
}

/// The body of an answer.
pub struct Body {
    wire: reqwest::Response,
    decoder: Decoder,
    terms: BodyTerms,
    received: u64,
    decoded: u64,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes received, {} decoded)", self.received, self.decoded)
    }
}

impl Body {
    pub(super) const fn new(wire: reqwest::Response, decoder: Decoder, terms: BodyTerms) -> Self {
        Self { wire, decoder, terms, received: 0, decoded: 0 }
    }

    /// Lowers the limit for the decoded size.
    #[must_use]
    pub fn at_most(mut self, bytes: u64) -> Self {
        let caps = &mut self.terms.caps;
        caps.decoded_bytes = caps.decoded_bytes.min(bytes);
        self
    }

    /// The next decoded chunk; none at the end. The future can be dropped at any time.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        let next = self.next().await;
        if let Err(error) = &next {
            self.terms.metrics.body_failed(error);
        }
        next
    }

    pub async fn bytes(mut self) -> Result<Bytes, HttpError> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut whole = BytesMut::from(&*first);
        whole.extend_from_slice(&second);
        while let Some(chunk) = self.chunk().await? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// The body as a stream of events.
    pub fn events(self, limits: SseLimits) -> Events {
        Events::new(self, limits)
    }

    pub(super) const fn origin(&self) -> &Origin {
        &self.terms.origin
    }

    async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        self.check_announced_size()?;
        loop {
            match self
                .decoder
                .pull()
                .map_err(|_| HttpError::Corrupt { origin: self.terms.origin.clone() })?
            {
                Step::Bytes(bytes) => {
                    self.decoded += bytes.len() as u64;
                    self.check_size()?;
                    return Ok(Some(bytes));
                }
                Step::End => return Ok(None),
                Step::Hungry => match self.received().await? {
                    Some(bytes) => {
                        self.received += bytes.len() as u64;
                        self.terms.metrics.received(bytes.len());
                        self.check_received()?;
                        self.decoder.feed(bytes);
                    }
                    None => self.decoder.end(),
                },
            }
        }
    }

    /// The next bytes from the wire, within the idle timeout and the total timeout.
    async fn received(&mut self) -> Result<Option<Bytes>, HttpError> {
        let BodyTerms { origin, idle, deadline, .. } = &self.terms;
        let reading = timeout(*idle, self.wire.chunk());
        let read = match deadline {
            Some(Deadline { at, total }) => timeout_at(*at, reading)
                .await
                .map_err(|_| HttpError::TookTooLong { origin: origin.clone(), after: *total })?,
            None => reading.await,
        };
        let read = read.map_err(|_| HttpError::Stalled { origin: origin.clone(), after: *idle })?;
        read.map_err(|error| classify::body(error, origin))
    }

    fn check_announced_size(&self) -> Result<(), HttpError> {
        let announced = self.wire.content_length().filter(|_| self.received == 0 && self.decoder.is_identity());
        if announced.is_some_and(|length| length > self.terms.caps.decoded_bytes) { self.too_large() } else { Ok(()) }
    }

    fn check_size(&self) -> Result<(), HttpError> {
        let Caps { decoded_bytes, ratio } = self.terms.caps;
        if self.decoded > decoded_bytes {
            return self.too_large();
        }
        if self.decoded > HTTP_RATIO_FLOOR_BYTES && self.decoded > self.received.saturating_mul(ratio) {
            return Err(HttpError::Bomb { origin: self.terms.origin.clone(), ratio });
        }
        Ok(())
    }

    /// Limits the encoded size too, because a body may decode to nothing. An encoding adds little to incompressible
    /// data.
    fn check_received(&self) -> Result<(), HttpError> {
        let limit = self.terms.caps.decoded_bytes;
        let with_overhead = limit.saturating_add(limit / 64).saturating_add(HTTP_RATIO_FLOOR_BYTES);
        if self.received > with_overhead { self.too_large() } else { Ok(()) }
    }

    fn too_large<T>(&self) -> Result<T, HttpError> {
        Err(HttpError::TooLarge { origin: self.terms.origin.clone(), limit: self.terms.caps.decoded_bytes })
    }
}
