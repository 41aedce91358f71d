//! One request with its redirects. Each hop is tried as often as the caller and the circuit breaker allow.

use std::future::pending;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, header};
use openfang_types::limits::{HTTP_ATTEMPTS, HTTP_REDIRECTS};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::body::{BodyTerms, Deadline};
use super::decode::Decoder;
use super::dial::ConnectNote;
use super::redirect::Hop;
use super::request::{Caps, Compression, Pacer, Patience, Request, Retry};
use super::{Body, HttpDoor, HttpError, Response, classify, retry};

/// The content encodings we accept.
const ACCEPTED: HeaderValue = HeaderValue::from_static("gzip, deflate");
const UNCOMPRESSED: HeaderValue = HeaderValue::from_static("identity");

/// Headers that frame the message or name its target. Conflicting values would allow request smuggling.
const RESERVED: [HeaderName; 8] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::ACCEPT_ENCODING,
];

pub(super) struct Flight<'a> {
    door: &'a HttpDoor,
    hop: Hop,
    patience: Patience,
    caps: Caps,
    deadline: Option<Deadline>,
    attempts: u32,
    attempts_allowed: u32,
    pacer: Option<Arc<dyn Pacer>>,
}

impl<'a> Flight<'a> {
    pub(super) fn new(door: &'a HttpDoor, request: Request, deadline: Option<Deadline>) -> Result<Self, HttpError> {
        if matches!(request.method, Method::CONNECT | Method::TRACE) {
            return Err(HttpError::Method { method: request.method });
        }
        if let Some(name) = RESERVED.into_iter().find(|name| request.headers.contains_key(name)) {
            return Err(HttpError::ReservedHeader { name });
        }
        let Request { method, target, mut headers, body, patience, caps, retry, redirects, compression, pacer } =
            request;
        let encodings = match compression {
            Compression::Welcome => ACCEPTED,
            Compression::Unwanted => UNCOMPRESSED,
        };
        headers.insert(header::ACCEPT_ENCODING, encodings);
        let attempts_allowed = match retry {
            Retry::Never => 1,
            Retry::Safe => HTTP_ATTEMPTS,
        };
        let hop = Hop { method, target, headers, body, redirects };
        Ok(Self { door, hop, patience, caps, deadline, attempts: 0, attempts_allowed, pacer })
    }

    pub(super) async fn run(mut self) -> Result<Response, HttpError> {
        for _ in 0..=HTTP_REDIRECTS {
            let answer = self.exchange().await?;
            match self.hop.next(answer.status(), answer.headers(), self.door.guard())? {
                Some(next) => self.hop = next,
                None => return self.landed(answer),
            }
        }
        Err(HttpError::TooManyRedirects { origin: self.hop.origin(), limit: HTTP_REDIRECTS })
    }

    /// The response to the current hop, after the allowed attempts.
    async fn exchange(&mut self) -> Result<reqwest::Response, HttpError> {
        let (reach, origin) = (self.hop.target.reach(), self.hop.origin());
        loop {
            let pass = self
                .door
                .circuits
                .enter(reach, &origin)
                .map_err(|open| HttpError::CircuitOpen { origin: origin.clone(), retry_after: open.retry_after })?;
            let outcome = self.attempt().await;
            pass.report(retry::health(&outcome));
            self.attempts += 1;
            if self.attempts >= self.attempts_allowed {
                return outcome;
            }
            let Some(pause) = retry::pause(&outcome, &self.door.backoff, self.attempts - 1) else { return outcome };
            if self.deadline.is_some_and(|deadline| Instant::now() + pause >= deadline.at) {
                return outcome;
            }
            drop(outcome);
            self.door.metrics.retried();
            sleep(pause).await;
        }
    }

    async fn attempt(&self) -> Result<reqwest::Response, HttpError> {
        let origin = self.hop.origin();
        let client = self.door.clients.of(&self.hop.target).await?;
        let mut request = reqwest::Request::new(self.hop.method.clone(), self.hop.target.url().clone());
        *request.headers_mut() = self.hop.headers.clone();
        if !self.hop.body.is_empty() {
            *request.body_mut() = Some(self.hop.body.clone().into());
        }
        let (note, mut is_dialling) = ConnectNote::new(self.patience.connect, self.paced().await?);
        // Pinned first, because the note would otherwise move the whole future.
        let executing = pin!(client.execute(request));
        let mut sending = pin!(note.carried_by(executing));
        let mut waiting_since = Instant::now();
        loop {
            let is_connected = !*is_dialling.borrow_and_update();
            tokio::select! {
                biased;
                answered = &mut sending => return answered.map_err(|error| classify::head(error, &origin)),
                // The sender is in the note, which outlives this loop, so `changed` cannot fail.
                _ = is_dialling.changed() => waiting_since = Instant::now(),
                () = passed(waiting_since, self.patience.first_byte), if is_connected => {
                    return Err(HttpError::FirstByte { origin, after: self.patience.first_byte });
                }
                after = over(self.deadline) => return Err(HttpError::TookTooLong { origin, after }),
            }
        }
    }

    /// The addresses to dial, after the pacer has let them pass; none without a pacer.
    async fn paced(&self) -> Result<Option<Vec<IpAddr>>, HttpError> {
        let Some(pacer) = &self.pacer else { return Ok(None) };
        let origin = self.hop.origin();
        let after = self.patience.connect;
        let resolving = self.door.clients.resolve(&self.hop.target);
        let resolved = timeout(after, resolving).await;
        let addresses = match resolved {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(error)) => return Err(classify::unresolved(&*error, origin)),
            Err(_) => return Err(HttpError::ConnectTimeout { origin, after }),
        };
        pacer.take(&addresses).map_err(|retry_after| HttpError::TooFast { origin, retry_after })?;
        Ok(Some(addresses))
    }

    fn landed(self, mut answer: reqwest::Response) -> Result<Response, HttpError> {
        let origin = self.hop.origin();
        let headers = std::mem::take(answer.headers_mut());
        let decoder = Decoder::of(&headers).map_err(|_| HttpError::UnsupportedEncoding { origin: origin.clone() })?;
        let terms = BodyTerms {
            origin: origin.clone(),
            caps: self.caps,
            idle: self.patience.idle,
            deadline: self.deadline,
            metrics: self.door.metrics.clone(),
        };
        let (status, target) = (answer.status(), self.hop.target);
        Ok(Response { status, headers, origin, target, body: Body::new(answer, decoder, terms) })
    }
}

/// Waits for the deadline and returns its length.
async fn over(deadline: Option<Deadline>) -> Duration {
    let Some(Deadline { at, total }) = deadline else { return pending().await };
    sleep_until(at).await;
    total
}

/// Waits until this long after an instant; forever if the clock cannot represent it.
async fn passed(since: Instant, wait: Duration) {
    match since.checked_add(wait) {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
