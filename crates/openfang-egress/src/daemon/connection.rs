//! One HTTP/1.1 connection to the daemon. Its driver is polled together with the future that waits for it. Nothing runs
//! in the background, and dropping the connection closes it.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use openfang_types::limits::{DAEMON_ANSWER_MAX_BYTES, DAEMON_TIMEOUT};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::{Answer, DaemonError, DaemonFile, WireTracer};

/// How long an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerTimeout {
    /// The answer needs no work: [`DAEMON_TIMEOUT`] for each step.
    Brief,
    /// The answer needs work, which has its own time limit.
    ForWork,
}

type Driver = http1::Connection<TokioIo<TcpStream>, Full<Bytes>>;

pub(super) struct Connection {
    address: SocketAddr,
    pid: u32,
    sender: http1::SendRequest<Full<Bytes>>,
    /// None once the connection is closed.
    driver: Option<Pin<Box<Driver>>>,
    tracer: WireTracer,
}

impl Connection {
    /// Connects to the address in the file, if it is one of this machine.
    pub(super) async fn open(file: &DaemonFile, tracer: WireTracer) -> Result<Self, DaemonError> {
        let address = file.address;
        let stream = dial(file.dial_address()).await?;
        let _ = stream.set_nodelay(true); // only costs speed
        let (sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|cause| DaemonError::Lost { address, cause })?;
        Ok(Self { address, pid: file.pid, sender, driver: Some(Box::pin(driver)), tracer })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<Bytes>,
        patience: AnswerTimeout,
    ) -> Result<Response<Incoming>, DaemonError> {
        self.tracer.request(&request);
        let sender = &mut self.sender;
        let answered = drive(&mut self.driver, async {
            sender.ready().await?;
            sender.send_request(request.map(Full::new)).await
        });
        let response = match patience {
            AnswerTimeout::Brief => timeout(DAEMON_TIMEOUT, answered).await.map_err(|_| self.silent())?,
            AnswerTimeout::ForWork => answered.await,
        };
        let response = response.map_err(|cause| DaemonError::Lost { address: self.address, cause })?;
        self.tracer.status(response.status());
        Ok(response)
    }

    /// Takes the rest of an answer.
    pub(super) async fn answer(
        &mut self,
        response: Response<Incoming>,
        patience: AnswerTimeout,
    ) -> Result<Answer, DaemonError> {
        let (head, body) = response.into_parts();
        let body = self.body(body, DAEMON_ANSWER_MAX_BYTES, patience).await?;
        Ok(Answer { status: head.status, body })
    }

    /// Takes a whole body, up to a limit.
    pub(super) async fn body(
        &mut self,
        mut body: Incoming,
        limit: usize,
        patience: AnswerTimeout,
    ) -> Result<Bytes, DaemonError> {
        let mut whole = BytesMut::new();
        loop {
            let chunk = self.chunk(&mut body);
            let chunk = match patience {
                AnswerTimeout::Brief => timeout(DAEMON_TIMEOUT, chunk).await.map_err(|_| self.silent())??,
                AnswerTimeout::ForWork => chunk.await?,
            };
            let Some(chunk) = chunk else { break };
            if whole.len() + chunk.len() > limit {
                return Err(DaemonError::TooLarge { limit });
            }
            whole.extend_from_slice(&chunk);
        }
        self.tracer.answer(&whole);
        Ok(whole.freeze())
    }

    /// The next bytes of a body; none at its end. The future can be dropped at any time.
    pub(super) async fn chunk(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, DaemonError> {
        loop {
            let Some(frame) = drive(&mut self.driver, body.frame()).await else { return Ok(None) };
            let frame = frame.map_err(|cause| DaemonError::Lost { address: self.address, cause })?;
            // Trailers are ignored.
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Traces the wire with this tracer from now on.
    pub(super) fn tracing(mut self, tracer: WireTracer) -> Self {
        self.tracer = tracer;
        self
    }

    pub(super) const fn tracer(&self) -> &WireTracer {
        &self.tracer
    }

    const fn silent(&self) -> DaemonError {
        DaemonError::Silent { address: self.address, pid: self.pid }
    }
}

/// Waits for `work` while driving the connection.
async fn drive<T>(driver: &mut Option<Pin<Box<Driver>>>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if let Some(open) = driver
            && open.as_mut().poll(cx).is_ready()
        {
            // The work sees the error itself: its end of the channel is closed now.
            *driver = None;
        }
        work.as_mut().poll(cx)
    })
    .await
}

/// Binds to the address that is dialled. The system allows this only for addresses of this machine, so a file from
/// another machine leads nowhere.
#[expect(
    clippy::disallowed_methods,
    reason = "the socket is bound to the machine's own address first, so it cannot leave the machine"
)]
async fn dial(address: SocketAddr) -> Result<TcpStream, DaemonError> {
    let unreachable = |cause| DaemonError::Unreachable { address, cause };
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }
    .map_err(unreachable)?;
    socket
        .bind(SocketAddr::new(address.ip(), 0))
        .map_err(|_| DaemonError::Elsewhere { address })?;
    socket.connect(address).await.map_err(unreachable)
}
