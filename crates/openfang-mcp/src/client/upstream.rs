//! A server that is kept connected: started, watched, started again, and asked anew when it says that it changed.
//!
//! One task looks after it; whoever calls takes the connection there is, waits while one is being made, and is told at
//! once when there is none to be had. So one server that hangs holds up nobody but its own callers.

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::mcp_status::McpServerState;
use openfang_types::redact::Redactor;
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::updates::Updates;
use super::watching::Watched;
use super::{ClientError, Connection, Endpoint, Manifest, Notice, ServerFacts};
use crate::capabilities::ClientCapabilities;
use crate::counts::Counts;
use crate::host::Change;
use crate::revision::Era;

/// Why there is no saying where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoEndpoint {
    pub why: String,
    /// Whether it can change by itself, as when a program is installed. Else nothing is tried until the entry or what it
    /// refers to changes.
    pub may_pass: bool,
}

impl NoEndpoint {
    /// What may be different in a while.
    pub fn for_now(why: impl fmt::Display) -> Self {
        Self { why: why.to_string(), may_pass: true }
    }

    /// What stays as it is until somebody changes something.
    pub fn until_changed(why: impl fmt::Display) -> Self {
        Self { why: why.to_string(), may_pass: false }
    }
}

/// Says where a server is. Asked before each start, since a variable may have been set or a program installed meanwhile.
pub trait Locator: Send + Sync {
    /// Where, or why there is no saying.
    fn endpoint(&self) -> Result<Endpoint, NoEndpoint>;

    /// Takes the secrets that the server was given out of all it says. Asked for after the endpoint, which may give more.
    fn redactor(&self) -> Arc<Redactor> {
        Arc::default()
    }
}

/// Is told when something about a server changed. Must not block.
pub trait Observer: Send + Sync {
    fn changed(&self);
}

/// What an upstream is made of.
pub struct UpstreamParts {
    /// What it is called in logs and errors.
    pub name: String,
    pub place: Arc<dyn Locator>,
    /// How long a call may take without a sign of progress.
    pub timeout: Duration,
    /// How long it may take to start and to say what it has.
    pub startup: Duration,
    /// What it is told that its callers can be asked for: some servers list more to those who can be asked.
    pub declared: ClientCapabilities,
    /// Which OpenFang we are: a server that says the same is ourselves, and is refused.
    pub instance: Option<String>,
    /// The only era that is spoken with it.
    pub only: Option<Era>,
    /// The era that was found before.
    pub known: Option<Era>,
    /// What it had before; shown until it says something else.
    pub manifest: Option<Manifest>,
    /// Connections that one owner may have, where the server may ask its callers.
    pub conversations: usize,
    /// Replies that nobody waits for are counted here.
    pub counts: Arc<Counts>,
    /// Who is told when something changed.
    pub observer: Arc<dyn Observer>,
    /// What looks after it runs here.
    pub tracker: TaskTracker,
    /// Fires when it is to be let go.
    pub stop: CancellationToken,
}

/// A server that is kept connected. Cheap to clone.
#[derive(Clone)]
pub struct Upstream {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) parts: UpstreamParts,
    pub(super) snapshot: watch::Sender<Arc<Snapshot>>,
    pub(super) live: Mutex<Option<Connection>>,
    pub(super) changes: broadcast::Sender<Change>,
    pub(super) restart: tokio::sync::Notify,
    pub(super) watched: Watched,
    pub(super) updates: Updates,
    is_started: AtomicBool,
    /// Calls in a row that were not answered in time.
    timeouts: AtomicU32,
    calls: AtomicUsize,
    /// Told when the last of them has ended.
    idle: tokio::sync::Notify,
}

/// A call under way; it is not any more when this is dropped.
pub(super) struct OpenCall {
    upstream: Upstream,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.upstream.inner.calls.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.upstream.inner.idle.notify_waiters();
        }
    }
}

/// Where a server stands.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The word for it.
    pub state: McpServerState,
    /// Why, in a sentence.
    pub reason: Option<String>,
    /// The last lines of its stderr, where that helps.
    pub stderr: Vec<String>,
    /// What it said about itself.
    pub facts: Option<Arc<ServerFacts>>,
    pub manifest: Arc<Manifest>,
    /// How often it was started.
    pub starts: u64,
}

/// Changes that a slow listener may fall behind; it looks again anyway.
const CHANGES: usize = 256;
/// Calls in a row without an answer after which the connection is given up.
const TIMEOUTS: u32 = 5;

impl Upstream {
    /// A server that is not connected to yet.
    pub fn new(mut parts: UpstreamParts) -> Self {
        let snapshot = Snapshot {
            state: McpServerState::Configured,
            reason: None,
            stderr: Vec::new(),
            facts: None,
            manifest: Arc::new(parts.manifest.take().unwrap_or_default()),
            starts: 0,
        };
        let inner = Inner {
            parts,
            snapshot: watch::Sender::new(Arc::new(snapshot)),
            live: Mutex::new(None),
            changes: broadcast::Sender::new(CHANGES),
            restart: tokio::sync::Notify::new(),
            watched: Watched::default(),
            updates: Updates::default(),
            is_started: AtomicBool::new(false),
            timeouts: AtomicU32::new(0),
            calls: AtomicUsize::new(0),
            idle: tokio::sync::Notify::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Begins to connect, unless that has begun.
    pub fn start(&self) {
        if !self.inner.is_started.swap(true, Ordering::SeqCst) {
            self.update(|snapshot| snapshot.state = McpServerState::Starting);
            self.inner.parts.tracker.spawn(super::life::look_after(self.clone()));
        }
    }

    pub fn restart(&self) {
        self.update(|snapshot| snapshot.state = McpServerState::Starting);
        if self.inner.is_started.load(Ordering::SeqCst) {
            self.inner.restart.notify_one();
        } else {
            self.start();
        }
    }

    /// Lets the server go.
    pub fn stop(&self) {
        self.inner.parts.stop.cancel();
        if let Some(connection) = self.lock().take() {
            connection.close("the server was removed");
        }
    }

    /// Counts a call for as long as it is under way.
    pub(super) fn open_call(&self) -> OpenCall {
        self.inner.calls.fetch_add(1, Ordering::SeqCst);
        OpenCall { upstream: self.clone() }
    }

    /// Waits until no call is under way.
    pub async fn without_calls(&self) {
        let mut idle = pin!(self.inner.idle.notified());
        // Listened for before the look, or the end of the last call could fall between them.
        while !idle.as_mut().enable() && self.inner.calls.load(Ordering::SeqCst) > 0 {
            idle.as_mut().await;
            idle.set(self.inner.idle.notified());
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.inner.parts.name
    }

    /// A text of the server without the secrets that it was given.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.inner.parts.place.redactor().text(text)
    }

    /// How long a call may take without a sign of progress.
    pub fn timeout(&self) -> Duration {
        self.inner.parts.timeout
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.inner.snapshot.borrow())
    }

    /// Where it stands, as that changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.inner.snapshot.subscribe()
    }

    /// What changes of what it has.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.inner.changes.subscribe()
    }

    /// Tries a connection of its own, which is closed afterwards; the one that is used goes on. The reason if that fails.
    pub async fn probe(&self) -> Result<(), String> {
        super::life::probe(self).await
    }

    /// Waits until it is connected, or is known not to be.
    pub async fn settled(&self) -> Arc<Snapshot> {
        let mut watch = self.watch();
        let is_settled = |snapshot: &Arc<Snapshot>| match snapshot.state {
            McpServerState::Configured | McpServerState::Starting => false,
            McpServerState::Ready | McpServerState::Degraded | McpServerState::Failed | McpServerState::Disabled => {
                true
            }
        };
        tokio::select! {
            biased;
            _ = watch.wait_for(is_settled) => {}
            // One that was let go never is.
            () = self.inner.parts.stop.cancelled() => {}
        }
        self.snapshot()
    }

    /// Waits until there is a connection. A server that is known to be down is an error at once.
    pub async fn connected(&self) -> Result<(), ClientError> {
        self.connection().await.map(drop)
    }

    /// The connection, once there is one. A server that is known to be down is an error at once.
    pub(crate) async fn connection(&self) -> Result<Connection, ClientError> {
        if let Some(connection) = self.live() {
            return Ok(connection);
        }
        self.start();
        let snapshot = timeout(self.inner.parts.timeout.min(self.inner.parts.startup), self.settled())
            .await
            .map_err(|_| ClientError::NotSent("it is still starting; try again in a moment".to_owned()))?;
        self.live()
            .ok_or_else(|| ClientError::NotSent(snapshot.reason.clone().unwrap_or_else(|| "it is down".to_owned())))
    }

    /// Notes how a call went: a server that answers nothing any more is connected to anew.
    pub(crate) fn note<T>(&self, connection: &Connection, outcome: &Result<T, ClientError>) {
        match outcome {
            Err(ClientError::TimedOut(_)) => {
                if self.inner.timeouts.fetch_add(1, Ordering::SeqCst) + 1 >= TIMEOUTS {
                    self.inner.timeouts.store(0, Ordering::SeqCst);
                    connection.close("it answered none of the last 5 calls in time");
                }
            }
            Err(error) if error.ends_connection() => connection.close(&error.to_string()),
            Ok(_) | Err(_) => self.inner.timeouts.store(0, Ordering::SeqCst),
        }
    }

    /// The server said in another conversation that it changed: it is asked again in the one that is kept.
    pub(super) fn pass_on(&self, notice: Notice) {
        if let Some(connection) = self.live() {
            connection.inbox().notice(notice);
        }
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        self.inner.snapshot.send_modify(|snapshot| change(Arc::make_mut(snapshot)));
        self.inner.parts.observer.changed();
    }

    /// The connection there is, if it is still one.
    pub(super) fn live(&self) -> Option<Connection> {
        let connection = self.lock().clone()?;
        if connection.ended().is_none() {
            return Some(connection);
        }
        // Whoever looks after it is about to notice; until then it is on its way.
        self.inner.snapshot.send_if_modified(|snapshot| {
            let was_up = matches!(snapshot.state, McpServerState::Ready | McpServerState::Degraded);
            if was_up {
                Arc::make_mut(snapshot).state = McpServerState::Starting;
            }
            was_up
        });
        None
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
