//! One connection: HTTP/1.1, or HTTP/2 when the peer opens with its preface. Slow peers are cut, not waited for.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use openfang_types::limits::Limits;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::impatient::Impatient;

/// hyper's buffer must hold a whole head, and takes no less than this.
const SMALLEST_HEAD_BUFFER: usize = 8 * 1024;
/// How often a preface that came in pieces is looked at again.
const PREFACE_POLL: Duration = Duration::from_millis(10);

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) limits: Limits,
    pub(super) stop: CancellationToken,
    pub(super) cut: CancellationToken,
}

/// The body of an answer, whoever makes it.
pub trait AnswerBody: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static {}

impl<B> AnswerBody for B where B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static {}

enum Version {
    One,
    Two,
}

impl Connection {
    /// Serves until the peer is done, too slow, or we stop.
    pub(super) async fn serve<S, B>(self, service: S)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: AnswerBody,
    {
        let head_time = Duration::from_secs(self.limits.header_read_secs);
        let version = tokio::select! {
            biased; // a request that is here already is answered even while we stop
            version = tokio::time::timeout(head_time, opening(&self.stream)) => version,
            () = self.stop.cancelled() => return,
        };
        let io = TokioIo::new(Impatient::new(self.stream));
        let (stop, cut) = (&self.stop, &self.cut);
        let ended = match version {
            Ok(Some(Version::One)) => {
                let connection = hyper::server::conn::http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(head_time)
                    .max_headers(self.limits.headers)
                    .max_buf_size(self.limits.header_bytes.max(SMALLEST_HEAD_BUFFER))
                    .serve_connection(io, service);
                drive(pin!(connection), stop, cut, |connection| connection.graceful_shutdown()).await
            }
            Ok(Some(Version::Two)) => {
                let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .max_concurrent_streams(self.limits.http2_streams)
                    .max_header_list_size(u32::try_from(self.limits.header_bytes).unwrap_or(u32::MAX))
                    .keep_alive_interval(head_time)
                    .keep_alive_timeout(head_time)
                    .serve_connection(io, service);
                // Boxed: it is the larger one, and most connections are of the other kind.
                let connection = Box::pin(connection);
                drive(pin!(connection), stop, cut, |connection| connection.get_mut().as_mut().graceful_shutdown()).await
            }
            Ok(None) | Err(_) => return,
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }
}

/// A connection to its end: told to finish when we stop, cut when time is up. It stays where it is: there can be many,
/// and one that is handed over would have room in two places.
async fn drive<C>(
    mut connection: Pin<&mut C>,
    stop: &CancellationToken,
    cut: &CancellationToken,
    finish: impl FnOnce(Pin<&mut C>),
) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    // Nobody is cut who was not told to finish before, so until then one token is watched: each costs at every turn.
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        () = stop.cancelled() => finish(connection.as_mut()),
    }
    tokio::select! {
        biased;
        () = cut.cancelled() => Ok(()),
        ended = connection => ended,
    }
}

/// What a peer of HTTP/2 opens with; no method begins like this.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Looks at the first bytes without taking them, until they tell the version. The caller limits the time.
async fn opening(stream: &TcpStream) -> Option<Version> {
    let mut first = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut first).await {
            Ok(0) | Err(_) => return None,
            Ok(seen) if !PREFACE.starts_with(&first[..seen]) => return Some(Version::One),
            Ok(seen) if seen == PREFACE.len() => return Some(Version::Two),
            // Bytes that were only looked at keep the socket readable, so there is nothing to wait for but time.
            Ok(_) => tokio::time::sleep(PREFACE_POLL).await,
        }
    }
}

/// How many connections each peer has.
#[derive(Default)]
pub(super) struct PeerCounts {
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection of a peer; given back when it is dropped.
pub(super) struct Seat {
    counts: Arc<PeerCounts>,
    peer: IpAddr,
}

impl PeerCounts {
    /// A seat, unless the peer has all it may have. Loopback is exempt: a proxy would share one address.
    pub(super) fn seat(self: &Arc<Self>, peer: IpAddr, limit: usize) -> Option<Seat> {
        let mut counts = self.lock();
        let count = counts.entry(peer).or_default();
        if *count >= limit && !peer.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Seat { counts: Arc::clone(self), peer })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}
