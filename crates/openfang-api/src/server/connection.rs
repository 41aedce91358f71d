//! One connection: HTTP/1.1, or HTTP/2 if the peer opens with its preface. Slow peers are disconnected.

use std::convert::Infallible;
use std::error::Error;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use openfang_types::limits::Limits;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::http2::{PacedBody, Requests};
use super::seats::Occupant;
use super::socket::{Socket, Version};

/// The minimum of hyper's buffer, which must hold a whole head.
const SMALLEST_HEAD_BUFFER: usize = 8 * 1024;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) limits: Limits,
    /// Runs the requests of HTTP/2.
    pub(super) tracker: TaskTracker,
    pub(super) occupant: Arc<Occupant>,
    pub(super) cut: CancellationToken,
}

/// The body of a response of any service.
pub trait AnswerBody:
    Body<Data: Send + Unpin, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static
{
}

impl<B> AnswerBody for B where
    B: Body<Data: Send + Unpin, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static
{
}

impl Connection {
    /// Serves until the peer is done or too slow, the server stops, or others need the seat.
    pub(super) async fn serve<S, B>(self, service: S)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: AnswerBody,
    {
        let Self { stream, limits, tracker, occupant, cut } = self;
        let mut socket = Socket::new(stream, limits.write_stall());
        let head_time = Duration::from_secs(limits.header_read_secs);
        let version = tokio::select! {
            biased; // a request that is here already is answered even while we stop
            version = tokio::time::timeout(head_time, socket.version()) => version,
            () = occupant.leave().cancelled() => return,
        };
        let life = ConnectionDriver { limits: &limits, head_time, occupant: &occupant, cut: &cut };
        let ended = match version {
            Ok(Some(Version::One)) => {
                let ended = life.http1(&mut socket, service).await;
                tokio::select! {
                    () = Box::pin(socket.close_gently(head_time)) => {}
                    () = cut.cancelled() => {}
                }
                ended
            }
            // Boxed, because it is the larger one and most connections use HTTP/1.
            Ok(Some(Version::Two)) => Box::pin(life.http2(socket, service, tracker)).await,
            Ok(None) | Err(_) => return,
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }
}

/// The time limits of a connection.
struct ConnectionDriver<'a> {
    limits: &'a Limits,
    /// The time for a head. A connection without a request lasts no longer.
    head_time: Duration,
    occupant: &'a Occupant,
    cut: &'a CancellationToken,
}

impl ConnectionDriver<'_> {
    async fn http1<S, B>(&self, socket: &mut Socket, service: S) -> hyper::Result<()>
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        B: AnswerBody,
    {
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_time)
            .max_headers(self.limits.headers)
            .max_buf_size(self.limits.header_bytes.max(SMALLEST_HEAD_BUFFER))
            .serve_connection(TokioIo::new(socket), service);
        let connection = pin!(connection);
        // The HTTP/1 connection ends by itself when it is idle.
        self.drive(connection, std::future::pending(), |connection| connection.graceful_shutdown())
            .await
    }

    async fn http2<S, B>(&self, socket: Socket, service: S, tracker: TaskTracker) -> hyper::Result<()>
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: AnswerBody,
    {
        let requests = Requests::new(tracker, self.limits.write_stall());
        let clocks = requests.clone();
        let paced = service_fn(move |request| {
            let (clock, answer) = (clocks.begin(), service.call(request));
            async move { answer.await.map(|answer| answer.map(|body| PacedBody::new(body, clock))) }
        });
        let connection = hyper::server::conn::http2::Builder::new(requests.clone())
            .timer(TokioTimer::new())
            .max_concurrent_streams(self.limits.http2_streams)
            .max_header_list_size(u32::try_from(self.limits.header_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(self.head_time)
            .keep_alive_timeout(self.head_time)
            .serve_connection(TokioIo::new(socket), paced);
        let connection = pin!(connection);
        self.drive(connection, requests.idle(self.head_time), |connection| connection.graceful_shutdown())
            .await
    }

    /// Drives a connection to its end: it is told to finish when the server stops or the connection is idle, and closed
    /// when the time is over, or at once to make room. It is not moved: there can be many, and moving would reserve its room twice.
    async fn drive<C>(
        &self,
        mut connection: Pin<&mut C>,
        idle: impl Future<Output = ()>,
        finish: impl FnOnce(Pin<&mut C>),
    ) -> hyper::Result<()>
    where
        C: Future<Output = hyper::Result<()>>,
    {
        // A connection is always told to finish before it is closed, so only one token is watched until then: each
        // costs something with every poll.
        let is_idle = tokio::select! {
            biased;
            ended = connection.as_mut() => return ended,
            () = self.occupant.leave().cancelled() => false,
            () = idle => true,
        };
        if self.occupant.makes_room() && self.occupant.is_idle() {
            return Ok(());
        }
        finish(connection.as_mut());
        let finished = async {
            if is_idle {
                tokio::time::timeout(self.head_time, connection).await.unwrap_or(Ok(()))
            } else {
                connection.await
            }
        };
        tokio::select! {
            biased;
            () = self.cut.cancelled() => Ok(()),
            ended = finished => ended,
        }
    }
}
