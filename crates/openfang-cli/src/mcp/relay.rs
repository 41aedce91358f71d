//! `openfang mcp` in front of a daemon: frames of the IDE go to `/mcp`, and what `/mcp` says goes back as it is.
//!
//! A modern request is a POST of its own. Legacy messages carry the session that the daemon gave; what belongs to no request
//! comes on the session's own stream. When the daemon goes away, another one or a kernel in this process takes over: it is
//! told what the client said to the first one (`memory.rs`), so that the client notices nothing. A call that was under way
//! is answered with an error that says so, and is never made twice.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use openfang_egress::daemon::Daemon;
use openfang_mcp::framing::{Frame, FrameReader, Framing, write_frame};
use openfang_mcp::relaying::ClientFrame;
use openfang_mcp::server::StopReason;
use openfang_types::jsonrpc::{ErrorObject, Id, encode_error, encode_notification};
use openfang_types::limits::{MCP_END_GRACE, MCP_RELAY_FRAMES};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::McpBackend;
use super::endpoint::Endpoint;
use crate::error::CliError;
use crate::session::Session;
use daemon_link::{DaemonLink, Missed};
use memory::Memory;
use pipe::Pipe;
use running::{Ask, Running};

mod daemon_link;
mod events;
mod lost;
mod memory;
mod pipe;
mod questions;
mod running;
mod watching;

/// How often somebody else is looked for, before the client is told that there is nobody.
const ATTEMPTS: usize = 3;

/// Frames on their way to the client.
type Out = mpsc::Sender<Bytes>;

/// One client, and whoever answers it.
pub(crate) struct Relay {
    session: Arc<Session>,
    endpoint: Endpoint,
    out: Out,
    link: Mutex<Arc<Link>>,
    /// Held while another link is made, so that only one is.
    looking: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    running: Running,
    /// What wants no answer goes one after the other, in the client's order.
    told: mpsc::Sender<Bytes>,
    tracker: TaskTracker,
    ended: CancellationToken,
}

/// Whoever answers the client at the moment.
struct Link {
    /// Which one it is, counted from zero.
    generation: u32,
    wire: Wire,
    /// Fires when another link takes over.
    closed: CancellationToken,
}

enum Wire {
    Daemon(DaemonLink),
    InProcess(Pipe),
}

impl Relay {
    /// Relays between a client and the daemon until the client's input ends or `stop` fires.
    pub(crate) async fn serve<R, W>(
        (session, endpoint, daemon): (&Arc<Session>, Endpoint, Daemon),
        (input, mut output): (R, W),
        stop: CancellationToken,
    ) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let (out, mut frames) = mpsc::channel(MCP_RELAY_FRAMES);
        let (told, to_tell) = mpsc::channel(MCP_RELAY_FRAMES);
        let wire = Wire::Daemon(DaemonLink::new(daemon, endpoint.path()));
        let relay = Arc::new(Self {
            session: Arc::clone(session),
            endpoint,
            out,
            link: Mutex::new(Arc::new(Link { generation: 0, wire, closed: CancellationToken::new() })),
            looking: tokio::sync::Mutex::new(()),
            memory: Mutex::default(),
            running: Running::default(),
            told,
            tracker: TaskTracker::new(),
            ended: CancellationToken::new(),
        });
        relay.spawn(Arc::clone(&relay).tell_all(to_tell));
        let (tell_framing, framing) = watch::channel(Framing::Lines);
        let finished = CancellationToken::new();

        let read = async {
            let mut reader = FrameReader::new(input);
            while let Some(frame) = relay.next_frame(&mut reader, &stop).await? {
                tell_framing.send_replace(reader.framing());
                match frame {
                    Frame::Message(frame) => relay.accept(frame.freeze()).await,
                    Frame::TooLarge => {
                        relay.refuse(&ErrorObject::invalid_request("the message is larger than 10 MiB")).await
                    }
                    Frame::BadHeader => {
                        relay.refuse(&ErrorObject::parse_error("the header has no usable Content-Length")).await
                    }
                }
            }
            relay.end().await;
            finished.cancel();
            Ok(())
        };
        let write = async {
            loop {
                let frame = tokio::select! {
                    biased;
                    frame = frames.recv() => frame,
                    () = finished.cancelled() => None,
                };
                let Some(frame) = frame else { break };
                let framing = *framing.borrow();
                write_frame(&mut output, framing, &frame).await?;
            }
            Ok(())
        };
        tokio::pin!(read, write);
        tokio::select! {
            written = &mut write => written,
            ended = &mut read => match ended {
                // What was answered before the end is still written, for as long as somebody takes it.
                Ok(()) => tokio::time::timeout(MCP_END_GRACE, write).await.unwrap_or(Ok(())),
                Err(error) => Err(error),
            },
        }
    }

    /// The next frame of the client; none at its end. A client that does not read its answers is not read from either.
    async fn next_frame<R: AsyncRead + Unpin>(
        &self,
        reader: &mut FrameReader<R>,
        stop: &CancellationToken,
    ) -> io::Result<Option<Frame>> {
        let next = async {
            drop(self.out.reserve().await);
            reader.next().await
        };
        stop.run_until_cancelled(next).await.unwrap_or(Ok(None))
    }

    async fn accept(self: &Arc<Self>, frame: Bytes) {
        let kind = ClientFrame::read(frame.trim_ascii());
        let link = self.link();
        match (&link.wire, kind) {
            (_, ClientFrame::Handshake(id)) => self.handshake(&id, frame).await,
            (Wire::InProcess(pipe), kind) => {
                if let Some(frame) = questions::answered(link.generation, kind, frame) {
                    pipe.send(&frame).await;
                }
            }
            (Wire::Daemon(daemon), kind) => {
                self.remember(&kind, &frame);
                if daemon.begins_watching() {
                    self.spawn(Arc::clone(self).watch(Arc::clone(&link)));
                }
                match kind {
                    ClientFrame::Request(request) => self.begin(Ask::new(frame, Some(request))).await,
                    // Several requests at once, or none: the daemon says which.
                    ClientFrame::Other | ClientFrame::Handshake(_) => self.begin(Ask::new(frame, None)).await,
                    // An agent goes on. The answer comes too late, and whoever no longer waits for it ignores it.
                    ClientFrame::Stop(id, StopReason::TimedOut) if self.running.may_go_on(&id) => {}
                    ClientFrame::Stop(id, _) if self.running.cancel(&id) => {}
                    ClientFrame::Stop(..) | ClientFrame::Notification(_) | ClientFrame::Reply(_) => {
                        // The other end is there as long as this is.
                        let _ = self.told.send(frame).await;
                    }
                }
            }
        }
    }

    /// Begins a request; its answer goes out when it is there.
    async fn begin(self: &Arc<Self>, ask: Ask) {
        match self.running.begin(&ask) {
            Some(run) => {
                let relay = Arc::clone(self);
                self.spawn(async move {
                    relay.carry_out(&ask).await;
                    drop(run);
                });
            }
            None => {
                let error = ErrorObject::invalid_request("too many requests are being worked on; wait for some");
                self.send(encode_error(ask.id(), &error).into()).await;
            }
        }
    }

    /// Has a request answered by whoever is there, and tells the client what is unknown when nobody is any more.
    async fn carry_out(self: &Arc<Self>, ask: &Ask) {
        let mut link = self.link();
        for _ in 0..ATTEMPTS {
            let missed = match &link.wire {
                Wire::InProcess(pipe) => {
                    if let Some(id) = ask.id().filter(|_| ask.is_acknowledged()) {
                        pipe.expect_again(id);
                    }
                    return pipe.send(&ask.frame).await;
                }
                Wire::Daemon(daemon) => match daemon.ask(link.generation, ask, &self.out).await {
                    Ok(()) => return,
                    Err(missed) => missed,
                },
            };
            if ask.is_canceled() {
                return;
            }
            // Whoever only waits to be told of changes can wait for another daemon too.
            if ask.waits_for_changes() && matches!(missed, Missed::UnderWay { .. }) {
                self.wait_for_another(&link).await;
            }
            let instead = self.instead_of(&link, None).await;
            link = match (missed, instead) {
                (Missed::UnderWay { was_heard }, _) if !ask.may_be_repeated(was_heard) => {
                    return self.send(lost::answer(ask)).await;
                }
                (_, Ok(other)) => other,
                (_, Err(error)) => return self.send(lost::nobody(ask.id(), &error)).await,
            };
        }
        self.send(lost::again_and_again(ask.id())).await;
    }

    /// `initialize`: nothing else of the client goes before its answer is there.
    async fn handshake(self: &Arc<Self>, id: &Id, frame: Bytes) {
        for _ in 0..ATTEMPTS {
            let link = self.link();
            match &link.wire {
                Wire::InProcess(pipe) => return pipe.send(&frame).await,
                Wire::Daemon(daemon) => {
                    if let Ok(answer) = daemon.initialize(&frame).await {
                        if answer.is_begun {
                            self.memory().begin(id.clone(), frame);
                        }
                        return self.send(answer.frame).await;
                    }
                }
            }
            if let Err(error) = self.instead_of(&link, None).await {
                return self.send(lost::nobody(Some(id), &error)).await;
            }
        }
        self.send(lost::again_and_again(Some(id))).await;
    }

    /// Another link in the place of one whose daemon went away.
    async fn instead_of(self: &Arc<Self>, gone: &Arc<Link>, found: Option<Daemon>) -> Result<Arc<Link>, CliError> {
        let _looking = self.looking.lock().await;
        let now = self.link();
        if !Arc::ptr_eq(&now, gone) {
            return Ok(now);
        }
        let generation = gone.generation + 1;
        let opened = match found {
            Some(daemon) => McpBackend::Daemon(daemon),
            None => McpBackend::open(&self.session).await?,
        };
        let frames = self.memory().frames();
        let wire = match opened {
            McpBackend::Daemon(daemon) => {
                let link = DaemonLink::new(daemon, self.endpoint.path());
                link.repeat(&frames).await?;
                tracing::warn!("the daemon went away; another one is there");
                Wire::Daemon(link)
            }
            McpBackend::InProcess(kernel, caller) => {
                tracing::warn!("the daemon went away; the work goes on in this process");
                let server = self.endpoint.open(&kernel, caller).await?;
                Wire::InProcess(Pipe::open(server, &frames, generation, (&self.out, &self.tracker)).await?)
            }
        };
        let link = Arc::new(Link { generation, wire, closed: CancellationToken::new() });
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&link);
        gone.closed.cancel();
        if matches!(&link.wire, Wire::Daemon(daemon) if daemon.begins_watching()) {
            self.spawn(Arc::clone(self).watch(Arc::clone(&link)));
        }
        if !frames.is_empty() {
            self.announce_changes().await;
        }
        Ok(link)
    }

    /// What changed while nobody was there cannot be known: a legacy client is told to look again.
    async fn announce_changes(&self) {
        for method in [
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
        ] {
            self.send(encode_notification(method, None).into()).await;
        }
    }

    /// Passes on what wants no answer, in order.
    async fn tell_all(self: Arc<Self>, mut frames: mpsc::Receiver<Bytes>) {
        while let Some(frame) = frames.recv().await {
            let link = self.link();
            let kind = ClientFrame::read(frame.trim_ascii());
            let Some(frame) = questions::answered(link.generation, kind, frame) else { continue };
            match &link.wire {
                Wire::InProcess(pipe) => pipe.send(&frame).await,
                // Nothing is lost that the next one would know what to do with: it has not asked, and nothing runs there.
                Wire::Daemon(daemon) => daemon.tell(frame).await,
            }
        }
    }

    /// The input has ended: what is nearly done is still answered, and the rest is canceled.
    async fn end(&self) {
        let link = self.link();
        if let Wire::InProcess(pipe) = &link.wire {
            pipe.close().await;
        }
        let _ = tokio::time::timeout(MCP_END_GRACE, self.running.idle()).await;
        self.ended.cancel();
        if let Wire::Daemon(daemon) = &link.wire {
            let _ = tokio::time::timeout(MCP_END_GRACE, daemon.end_session()).await;
        }
        self.tracker.close();
        let _ = tokio::time::timeout(2 * MCP_END_GRACE, self.tracker.wait()).await;
    }

    async fn refuse(&self, error: &ErrorObject) {
        self.send(encode_error(None, error).into()).await;
    }

    async fn send(&self, frame: Bytes) {
        // A client that is gone wants no answer.
        let _ = self.out.send(frame).await;
    }

    /// Work that ends with the conversation.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        self.tracker.spawn(async move {
            let _ = ended.run_until_cancelled(work).await;
        });
    }

    fn remember(&self, kind: &ClientFrame, frame: &Bytes) {
        self.memory().note(kind, frame);
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
