//! Sockets: the accept loop with its limits and timeouts, and a shutdown that finishes accepted requests.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_util::FutureExt as _;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use openfang_kernel::Kernel;
use openfang_types::config::IpRange;
use openfang_types::limits::{ACCEPT_BACKOFF, LAST_WORD, Limits, NOFILE_TARGET};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::layers::Front;
use connection::Connection;
use peers::PeerCounts;
use seats::{FreeSeat, SeatedBody, Seats};

pub use connection::AnswerBody;

mod connection;
mod heads;
mod http2;
mod peers;
mod seats;
mod socket;

/// The address a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// A server that is bound but not running yet.
pub struct Server {
    kernel: Kernel,
    listener: TcpListener,
    address: SocketAddr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All accepted requests were answered.
    Finished,
    /// The time was over; the remaining requests were interrupted.
    Interrupted,
}

impl Server {
    /// Binds the configured address. Refused if the address is reachable from elsewhere and no credential is
    /// configured.
    pub async fn bind(kernel: Kernel) -> io::Result<Self> {
        if let Some(problem) = kernel.exposure() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem.why));
        }
        raise_descriptor_limit();
        let listener = TcpListener::bind(kernel.config().api_listen).await?;
        let address = listener.local_addr()?;
        kernel.listens_on(address);
        Ok(Self { kernel, listener, address })
    }

    /// The listening address, with the actual port if config asked for any.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` fires, then lets accepted requests finish within the configured time.
    pub async fn run(self, stop: CancellationToken) -> Stopped {
        let Self { kernel, listener, address } = self;
        let front = Arc::new(Front::new(kernel.clone(), address));
        let sweeper = stop.clone();
        let app = Arc::new(App::new(&front));
        // Boxed, because a connection reserves room for a response as long as it lives, and streams live long.
        let answer = move |peer: Peer, request: Request<Incoming>| Box::pin(Arc::clone(&app).answer(peer, request));
        let connections = TaskTracker::new();
        connections.spawn(async move { front.forget_idle_peers(sweeper).await });

        let cut = CancellationToken::new();
        let limits = || kernel.config().limits.clone();
        let proxies = || kernel.config().trusted_proxies.clone();
        let accept = Accept { limits: &limits, proxies: &proxies, connections: &connections, stop: &stop, cut: &cut };
        accept.until_stopped(listener, answer).await;

        connections.close();
        kernel.begin_drain();
        let finish = async {
            connections.wait().await;
            kernel.idle().await;
        };
        if tokio::time::timeout(kernel.config().limits.drain(), finish).await.is_ok() {
            return Stopped::Finished;
        }
        kernel.interrupt().await;
        let _ = tokio::time::timeout(LAST_WORD, connections.wait()).await;
        cut.cancel();
        connections.wait().await;
        Stopped::Interrupted
    }
}

/// The bare accept loop with any service, as the baseline for benchmarks.
pub async fn serve<S, F, B>(listener: TcpListener, limits: &Limits, stop: CancellationToken, answer: S)
where
    S: Fn(Peer, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
    B: AnswerBody,
{
    let (connections, cut) = (TaskTracker::new(), CancellationToken::new());
    let limits = || limits.clone();
    let proxies = Vec::new;
    let accept = Accept { limits: &limits, proxies: &proxies, connections: &connections, stop: &stop, cut: &cut };
    accept.until_stopped(listener, answer).await;
    cut.cancel();
    connections.close();
    connections.wait().await;
}

struct Accept<'a> {
    /// The current limits for a new connection.
    limits: &'a (dyn Fn() -> Limits + Sync),
    proxies: &'a (dyn Fn() -> Vec<IpRange> + Sync),
    connections: &'a TaskTracker,
    /// Accept no more connections, but finish the accepted ones.
    stop: &'a CancellationToken,
    cut: &'a CancellationToken,
}

impl Accept<'_> {
    async fn until_stopped<S, F, B>(&self, listener: TcpListener, answer: S)
    where
        S: Fn(Peer, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
        B: AnswerBody,
    {
        let seats = Seats::new((self.limits)().connections);
        let peers = Arc::new(PeerCounts::default());
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                accepted = accept_when_there_is_room(&listener, &seats) => accepted,
            };
            self.serve_accepted(accepted, (&seats, &peers), &answer);
        }
        // The system has already accepted the queued connections: closing now would reset them.
        while let Some(accepted) = accept_when_there_is_room(&listener, &seats).now_or_never() {
            self.serve_accepted(accepted, (&seats, &peers), &answer);
        }
    }

    fn serve_accepted<S, F, B>(
        &self,
        accepted: Option<Accepted>,
        (seats, peers): (&Arc<Seats>, &Arc<PeerCounts>),
        answer: &S,
    ) where
        S: Fn(Peer, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
        B: AnswerBody,
    {
        let Some((stream, peer, free)) = accepted else { return };
        let limits = (self.limits)();
        let Some(slot) = peers.seat(peer.ip(), limits.connections_per_peer, &(self.proxies)()) else { return };
        let (answer, from, seat) = (answer.clone(), Peer(peer.ip()), seats.take(free, self.stop));
        let connection = Connection {
            stream,
            limits,
            tracker: self.connections.clone(),
            occupant: Arc::clone(&seat.occupant),
            cut: self.cut.clone(),
        };
        self.connections.spawn(async move {
            let service = service_fn(|request| {
                let (in_progress, request) = (seat.occupant.begin(), answer(from, request));
                async move { request.await.map(|answer| answer.map(|body| SeatedBody::new(body, in_progress))) }
            });
            connection.serve(service).await;
            drop((slot, seat));
        });
    }
}

type Accepted = (TcpStream, SocketAddr, FreeSeat);

/// Without free descriptors the loop waits instead of spinning, until a connection closes.
async fn accept_when_there_is_room(listener: &TcpListener, seats: &Seats) -> Option<Accepted> {
    let free = seats.free().await?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Otherwise a response in two writes waits for the peer's delayed acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY was refused");
            }
            Some((stream, peer, free))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_BACKOFF).await;
            None
        }
    }
}

/// Raises the soft limit of descriptors to the hard limit, up to a useful maximum.
fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let now = getrlimit(Resource::Nofile);
        let wanted = now.maximum.map_or(NOFILE_TARGET, |maximum| maximum.min(NOFILE_TARGET));
        if now.current.is_some_and(|current| current < wanted) {
            let raised = Rlimit { current: Some(wanted), maximum: now.maximum };
            if let Err(error) = setrlimit(Resource::Nofile, raised) {
                tracing::debug!(%error, "the descriptor limit was not raised");
            }
        }
    }
}
