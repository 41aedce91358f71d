//! The server: a message in, a message out, and no transport inside.
//!
//! [`Server`] holds a [`Host`] and answers in the peer's own revision. [`stdio`] and [`http`] are the doors; each
//! brings messages to `Server::answer` with an outlet for what is told meanwhile. What a host needs from a client is
//! asked in `input.rs`, by the era's own means. `session.rs` is what a legacy peer's conversation remembers.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use openfang_types::clock::Clock;
use openfang_types::jsonrpc::{Id, encode_error};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::capabilities::ClientCapabilities;
use crate::client_name::ClientName;
use crate::error::McpError;
use crate::host::{Call, Host, Resumed, Seal, TaskChoice};
use crate::meta::Meta;
use crate::revision::{Era, Revision, TaskMethods};

use http::SsePeers;
use outlet::Outlet;
use params::CallTarget;
use respond::{Frame, Signature};
use session::Session;
use subscriptions::Listeners;

pub(crate) use handshake::is_handshake;
pub use report::Reporter;
pub use running::{RequestStop, StopReason};
pub use shared::Shared;

mod completion;
mod dispatch;
mod duplex;
mod ended;
mod event_log;
mod handshake;
pub mod http;
mod input;
mod lists;
mod notifications;
mod outlet;
pub(crate) mod params;
mod report;
mod respond;
mod running;
mod session;
mod sessions;
mod shared;
mod skills;
pub mod stdio;
mod subscriptions;
mod task_notices;
mod tasks;
mod used_states;

/// A server of MCP. Cheap to clone.
pub struct Server<H: Host> {
    inner: Arc<Inner<H>>,
}

/// What a server is made of.
pub struct Parts<H> {
    /// Who has the tools.
    pub host: H,
    /// Makes tokens that nobody else can make.
    pub seal: Arc<dyn Seal>,
    pub clock: Arc<dyn Clock>,
    /// Work that outlives its connection runs here.
    pub tracker: TaskTracker,
    /// Fires when the server stops.
    pub stop: CancellationToken,
    /// What it shares with the other servers of this process.
    pub shared: Arc<Shared>,
}

pub(crate) struct Inner<H: Host> {
    host: H,
    seal: Arc<dyn Seal>,
    clock: Arc<dyn Clock>,
    tracker: TaskTracker,
    stop: CancellationToken,
    signature: Mutex<Arc<Signature>>,
    shared: Arc<Shared>,
    /// Tells its sessions from those of other servers.
    number: u64,
    listeners: Arc<Listeners>,
    sse_peers: SsePeers<H>,
}

/// A request, decoded, with what surrounds it.
pub(crate) struct Request<C> {
    pub(crate) caller: C,
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) named: CallTarget,
    pub(crate) meta: Meta,
    pub(crate) revision: Revision,
    pub(crate) client: ClientCapabilities,
    /// What a legacy conversation remembers; none where it has no memory.
    pub(crate) session: Option<Arc<Session>>,
    /// Where things go that are told before the answer.
    pub(crate) outlet: Arc<dyn Outlet>,
    pub(crate) stop: RequestStop,
}

/// The answer to a request.
pub(crate) struct Answer {
    pub(crate) frame: Frame,
    /// The status of the HTTP response that carries nothing else.
    pub(crate) status: u16,
}

impl<H: Host> Clone for Server<H> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<H: Host> Server<H> {
    /// A server of this host.
    pub fn new(parts: Parts<H>) -> Self {
        let Parts { host, seal, clock, tracker, stop, shared } = parts;
        let signature = Mutex::new(Arc::new(Signature::of(host.identity())));
        let inner = Inner {
            host,
            seal,
            clock,
            tracker,
            stop,
            signature,
            number: shared.next_server(),
            shared,
            listeners: Arc::default(),
            sse_peers: SsePeers::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    pub fn host(&self) -> &H {
        &self.inner.host
    }

    /// Answers a request. None: it was canceled, and whoever did that wants no answer.
    pub(crate) async fn answer(&self, request: &Request<H::Caller>) -> Option<Answer> {
        match self.unless_canceled(request).await {
            Ok(frame) => Some(Answer { frame, status: 200 }),
            Err(McpError::Canceled) => None,
            Err(error) => Some(Answer::error(&request.id, &error, request.revision)),
        }
    }

    /// What is said about the host, as it is known by now.
    fn signature(&self) -> Arc<Signature> {
        let identity = self.inner.host.identity();
        let mut signature = self.inner.signature.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(signature.identity(), &identity) {
            *signature = Arc::new(Signature::of(identity));
        }
        Arc::clone(&signature)
    }

    async fn unless_canceled(&self, request: &Request<H::Caller>) -> Result<Frame, McpError> {
        if request.stop.canceled().is_cancelled() {
            return Err(McpError::Canceled);
        }
        let mut work = pin!(self.result(request));
        // What is done at once needs no place among those who wait for a cancel.
        if let Poll::Ready(outcome) = poll_fn(|task| Poll::Ready(work.as_mut().poll(task))).await {
            return outcome;
        }
        let outcome = tokio::select! {
            biased;
            () = request.stop.canceled().cancelled() => Err(McpError::Canceled),
            outcome = work => outcome,
        };
        // Whoever waits no more is told nothing.
        if request.stop.left().is_cancelled() { Err(McpError::Canceled) } else { outcome }
    }

    fn now(&self) -> i64 {
        self.inner.clock.now().as_second()
    }
}

impl Answer {
    pub(crate) fn error(id: &Id, error: &McpError, revision: Revision) -> Self {
        let frame = encode_error(Some(id), &error.to_object(revision));
        Self { frame: frame.into(), status: error.status(revision.era()) }
    }
}

impl<C> Request<C> {
    fn era(&self) -> Era {
        self.revision.era()
    }

    fn params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }

    /// What surrounds a call of the host for this request.
    fn call<'a>(&'a self, reporter: &'a Arc<Reporter>, resumed: Option<&'a Resumed>) -> Call<'a, C> {
        let task = match self.revision.facts().tasks {
            TaskMethods::Core if self.named.wants_task => TaskChoice::Always,
            TaskMethods::Extension if self.meta.declares_tasks => TaskChoice::IfLong,
            TaskMethods::Absent | TaskMethods::Core | TaskMethods::Extension => TaskChoice::Never,
        };
        Call {
            caller: &self.caller,
            client: self.client,
            client_name: self.client_name(),
            era: self.era(),
            task,
            meta: self.meta.beside.as_ref(),
            resumed,
            reporter,
        }
    }

    /// What the client calls itself.
    fn client_name(&self) -> ClientName {
        match &self.session {
            Some(session) => session.client_name(),
            None => self.meta.client_name(),
        }
    }
}
