//! One connection: HTTP/1.1, or HTTP/2 when the peer opens with its preface. Slow peers are cut, not waited for.

use std::convert::Infallible;
use std::error::Error;
use std::pin::{Pin, pin};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use openfang_types::limits::Limits;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::http2::{Paced, Requests};
use super::socket::{Socket, Version};

/// hyper's buffer must hold a whole head, and takes no less than this.
const SMALLEST_HEAD_BUFFER: usize = 8 * 1024;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) limits: Limits,
    /// Where the requests of HTTP/2 run.
    pub(super) tracker: TaskTracker,
    pub(super) stop: CancellationToken,
    pub(super) cut: CancellationToken,
}

/// The body of an answer, whoever makes it.
pub trait AnswerBody: Body<Data: Send + Unpin, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static {}

impl<B> AnswerBody for B where B: Body<Data: Send + Unpin, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static {}

impl Connection {
    /// Serves until the peer is done, too slow, or we stop.
    pub(super) async fn serve<S, B>(self, service: S)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S::Future: Send + 'static,
        B: AnswerBody,
    {
        let Self { stream, limits, tracker, stop, cut } = self;
        let mut socket = Socket::new(stream, limits.write_stall());
        let head_time = Duration::from_secs(limits.header_read_secs);
        let version = tokio::select! {
            biased; // a request that is here already is answered even while we stop
            version = tokio::time::timeout(head_time, socket.version()) => version,
            () = stop.cancelled() => return,
        };
        let life = Life { limits: &limits, head_time, stop: &stop, cut: &cut };
        let ended = match version {
            Ok(Some(Version::One)) => {
                let ended = life.http1(&mut socket, service).await;
                tokio::select! {
                    () = Box::pin(socket.close_gently(head_time)) => {}
                    () = cut.cancelled() => {}
                }
                ended
            }
            // Boxed: it is the larger one, and most connections are of the other kind.
            Ok(Some(Version::Two)) => Box::pin(life.http2(socket, service, tracker)).await,
            Ok(None) | Err(_) => return,
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }
}

/// How long a connection lives.
struct Life<'a> {
    limits: &'a Limits,
    /// What a peer has for a head; without a request a connection lasts no longer.
    head_time: Duration,
    stop: &'a CancellationToken,
    cut: &'a CancellationToken,
}

impl Life<'_> {
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
        // It has an end of its own when there is no request.
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
            async move { answer.await.map(|answer| answer.map(|body| Paced::new(body, clock))) }
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

    /// A connection to its end: told to finish when we stop or nobody asks anything, cut when time is up. It stays where
    /// it is: there can be many, and one that is handed over would have room in two places.
    async fn drive<C>(
        &self,
        mut connection: Pin<&mut C>,
        idle: impl Future<Output = ()>,
        finish: impl FnOnce(Pin<&mut C>),
    ) -> hyper::Result<()>
    where
        C: Future<Output = hyper::Result<()>>,
    {
        // Nobody is cut who was not told to finish before, so until then one token is watched: each costs at every turn.
        let is_idle = tokio::select! {
            biased;
            ended = connection.as_mut() => return ended,
            () = self.stop.cancelled() => false,
            () = idle => true,
        };
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
