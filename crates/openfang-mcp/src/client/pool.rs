//! Conversations of one caller each, with a server that may ask: a question then has exactly one addressee.
//!
//! A conversation serves one call at a time and goes back for the next call of the same caller with the same
//! capabilities. One that nobody used for a while is ended. There are only so many, of one owner and in all, and calls
//! beyond that wait in line.
//!
//! ```text
//! a call ──> in line ──> a place ─┬─ one of the same caller rests ──> leased ─┬─ the call came to its end ──> rests
//!                                 └─ none ──> connected (an older one ends) ──┘       └─ it was broken off ──> ended
//! rests ── another call ──> leased
//!   ├───── for a while without one ──> ended
//!   └───── somebody needs its place ──> ended
//! ```

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::limits::{MCP_POOL, MCP_POOL_IDLE, MCP_POOL_WATCHED, MCP_PROBE};
use openfang_types::quota::Quota;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::line::{Line, LineSlot};
use super::upstream::Upstream;
use super::{ClientError, Connecting, Connection, Notice, RawMembers, connect};
use crate::capabilities::ClientCapabilities;
use crate::meta::LogLevel;
use crate::revision::Era;

/// The conversations of a server.
pub(super) struct Pool {
    upstream: Upstream,
    shelf: Arc<Shelf>,
    /// A place for each call that may be under way.
    line: Arc<Line>,
    /// Conversations that one owner may have.
    per_owner: usize,
}

/// Whose conversations are those in which nobody can be asked. No owner has this name.
const NOBODY: &str = "*nobody";

#[derive(Default)]
struct Shelf {
    idle: Mutex<VecDeque<Idle>>,
}

struct Idle {
    key: Key,
    held: PooledConnection,
    since: Instant,
}

/// Whose conversation it is.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    owner: String,
    declared: ClientCapabilities,
}

struct PooledConnection {
    connection: Connection,
    level: Option<LogLevel>,
    /// The resources that the server was asked to tell of here.
    watched: BTreeSet<String>,
}

/// A conversation for one call. It goes back when the call came to its end; else nobody knows what the server still
/// says on it, and it is ended.
pub(super) struct Lease {
    key: Key,
    held: Option<PooledConnection>,
    shelf: Arc<Shelf>,
    stop: CancellationToken,
    is_done: bool,
    /// Given on after the conversation went back.
    _place: LineSlot,
}

impl Pool {
    pub(super) fn new(upstream: Upstream) -> Self {
        let per_owner = upstream.inner.parts.conversations;
        let line = Line::new(Quota::new(per_owner, MCP_POOL.max(per_owner.saturating_mul(2))));
        Self { upstream, shelf: Arc::default(), line, per_owner }
    }

    /// A conversation for this caller alone.
    pub(super) async fn take(&self, owner: &str, declared: ClientCapabilities) -> Result<Lease, ClientError> {
        self.take_keyed(owner, Key { owner: owner.to_owned(), declared }).await
    }

    /// A conversation in which nobody can be asked, for a call of this owner. All owners share these; the call counts
    /// for its own.
    pub(super) async fn take_silent(&self, owner: &str) -> Result<Lease, ClientError> {
        self.take_keyed(owner, Key { owner: NOBODY.to_owned(), declared: ClientCapabilities::NONE })
            .await
    }

    async fn take_keyed(&self, owner: &str, key: Key) -> Result<Lease, ClientError> {
        let busy = || {
            let why = "as many calls of this user to this server are under way as may be; wait for one to end";
            ClientError::NotSent(why.to_owned())
        };
        let place = timeout(self.upstream.timeout(), self.line.place(owner)).await;
        let place = place.ok().flatten().ok_or_else(busy)?;
        let held = match self.shelf.take(&key) {
            Some(held) => held,
            None => self.make(owner, key.declared).await?,
        };
        Ok(Lease {
            key,
            held: Some(held),
            shelf: Arc::clone(&self.shelf),
            stop: self.upstream.inner.parts.stop.clone(),
            is_done: false,
            _place: place,
        })
    }

    async fn make(&self, owner: &str, declared: ClientCapabilities) -> Result<PooledConnection, ClientError> {
        let (owned, all) = self.line.taken(owner);
        // One of the owner's own that waits for a call makes room, then somebody else's.
        self.shelf.make_room_of(owner, (self.per_owner + 1).saturating_sub(owned));
        self.shelf.make_room(all);
        // A server that is down says so at once.
        self.upstream.connection().await?;
        let connection = self.connect(declared, self.upstream.inner.parts.startup).await?;
        self.hear(&connection);
        self.shelf.sweep_later(&self.upstream);
        Ok(PooledConnection { connection, level: None, watched: BTreeSet::new() })
    }

    /// Whether the server begins a legacy conversation, if it is asked for one.
    pub(super) async fn try_legacy(&self) -> bool {
        // A server that says nothing at all to it is a modern one.
        let patience = MCP_PROBE.min(self.upstream.inner.parts.startup);
        match self.connect(ClientCapabilities::NONE, patience).await {
            Ok(connection) => {
                connection.close("it was asked only whether it speaks this way");
                true
            }
            Err(error) => {
                tracing::debug!(server = self.upstream.name(), %error, "an MCP server speaks the modern era only");
                false
            }
        }
    }

    /// Begins a conversation in which the server may ask: one of the legacy era.
    async fn connect(&self, declared: ClientCapabilities, patience: Duration) -> Result<Connection, ClientError> {
        let parts = &self.upstream.inner.parts;
        let connecting = Connecting {
            endpoint: parts.place.endpoint().map_err(|error| ClientError::Start(error.why))?,
            redactor: parts.place.redactor(),
            only: Some(Era::Legacy),
            known: None,
            declared,
            patience,
            tracker: parts.tracker.clone(),
            counts: Arc::clone(&parts.counts),
        };
        connect(connecting).await.map_err(|(error, _)| error)
    }

    /// What a server says here that it changed concerns everybody.
    fn hear(&self, connection: &Connection) {
        let (mut notices, upstream) = (connection.notices(), self.upstream.clone());
        self.upstream.inner.parts.tracker.spawn(async move {
            loop {
                let notice = tokio::select! {
                    biased;
                    () = upstream.inner.parts.stop.cancelled() => return,
                    notice = notices.recv() => notice,
                };
                match notice {
                    Ok(notice @ (Notice::Tools | Notice::Prompts | Notice::Resources)) => upstream.pass_on(notice),
                    // A server tells of what a call changed where the call was made.
                    Ok(Notice::Resource(uri)) => upstream.updated(uri),
                    Err(RecvError::Lagged(_)) => upstream.pass_on(Notice::Tools),
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }
}

impl Shelf {
    fn take(&self, key: &Key) -> Option<PooledConnection> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|idle| idle.key == *key && idle.held.connection.ended().is_none())?;
        idle.remove(at).map(|idle| idle.held)
    }

    /// Ends the oldest of an owner until fewer than this are left.
    fn make_room_of(&self, owner: &str, fewer_than: usize) {
        let mut idle = self.lock();
        let owned = idle.iter().filter(|idle| idle.key.owner == owner).count();
        let mut too_many = (owned + 1).saturating_sub(fewer_than.max(1));
        let (over, left) = std::mem::take(&mut *idle).into_iter().partition(|idle| {
            let is_over = too_many > 0 && idle.key.owner == owner;
            too_many -= usize::from(is_over);
            is_over
        });
        *idle = left;
        drop(idle);
        drop::<VecDeque<Idle>>(over);
    }

    /// Ends the oldest until there is room for those of so many calls.
    fn make_room(&self, calls: usize) {
        let mut idle = self.lock();
        let too_many = (idle.len() + calls).saturating_sub(MCP_POOL).min(idle.len());
        let oldest: Vec<Idle> = idle.drain(..too_many).collect();
        drop(idle);
        drop(oldest);
    }

    /// Ends what nobody used for a while, once that while is over.
    fn sweep_later(self: &Arc<Self>, upstream: &Upstream) {
        let (shelf, stop) = (Arc::downgrade(self), upstream.inner.parts.stop.clone());
        let (tracker, upstream) = (upstream.inner.parts.tracker.clone(), upstream.clone());
        tracker.spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = sleep(MCP_POOL_IDLE) => {}
                }
                let Some(shelf) = shelf.upgrade() else { return };
                let is_over = stop.is_cancelled();
                let mut idle = shelf.lock();
                // One in which the server tells of resources lasts for as long as somebody wants to hear of them.
                let is_heard = |idle: &Idle| upstream.inner.watched.has_any_of(&idle.held.watched);
                idle.retain(|idle| !is_over && (idle.since.elapsed() < MCP_POOL_IDLE || is_heard(idle)));
                if idle.is_empty() {
                    return;
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.held.as_ref().map(|held| &held.connection)
    }

    /// Notes the level of log lines that the server was told; whether that is news.
    pub(super) fn tells_level(&mut self, level: LogLevel) -> bool {
        self.held.as_mut().is_some_and(|held| held.level.replace(level) != Some(level))
    }

    /// Asks the server to tell here too of the resources that the owner watches: what a call changes is told in the
    /// conversation of the call.
    pub(super) async fn watch(&mut self, upstream: &Upstream, owner: &str) {
        let Some(held) = self.held.as_mut().filter(|held| held.connection.facts().capabilities.subscribe) else {
            return;
        };
        for uri in upstream.inner.watched.of(owner) {
            if held.watched.len() >= MCP_POOL_WATCHED {
                return;
            }
            if held.watched.insert(uri.clone()) {
                let members = RawMembers::none().with("uri", &uri);
                if let Err(error) = held.connection.ask("resources/subscribe", members, upstream.timeout()).await {
                    tracing::debug!(server = upstream.name(), uri, %error, "a resource cannot be watched");
                }
            }
        }
    }

    /// The call on it came to its end.
    pub(super) const fn done(&mut self) {
        self.is_done = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        if self.is_done && !self.stop.is_cancelled() && held.connection.ended().is_none() {
            self.shelf.lock().push_back(Idle { key: self.key.clone(), held, since: Instant::now() });
        }
    }
}
