//! Conversations of one caller each, with a server that may ask: a question then has exactly one addressee.
//!
//! A conversation serves one call at a time and goes back for the next call of the same caller with the same
//! capabilities. One that nobody used for a while is ended.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_POOL, MCP_POOL_IDLE};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::upstream::Upstream;
use super::{ClientError, Connecting, Connection, connect};
use crate::capabilities::ClientCapabilities;
use crate::meta::LogLevel;

/// The conversations of a server.
pub(super) struct Pool {
    upstream: Upstream,
    shelf: Arc<Shelf>,
    seats: Arc<Semaphore>,
}

#[derive(Default)]
struct Shelf {
    idle: Mutex<VecDeque<Idle>>,
}

struct Idle {
    key: Key,
    held: Held,
    since: Instant,
}

/// Whose conversation it is.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    owner: String,
    declared: ClientCapabilities,
}

struct Held {
    connection: Connection,
    level: Option<LogLevel>,
    /// One of the seats there are.
    _seat: OwnedSemaphorePermit,
}

/// A conversation for one call. It goes back when the call came to its end; else nobody knows what the server still
/// says on it, and it is ended.
pub(super) struct Lease {
    key: Key,
    held: Option<Held>,
    shelf: Arc<Shelf>,
    stop: CancellationToken,
    is_done: bool,
}

impl Pool {
    pub(super) fn new(upstream: Upstream) -> Self {
        Self { upstream, shelf: Arc::default(), seats: Arc::new(Semaphore::new(MCP_POOL)) }
    }

    /// A conversation for this caller alone.
    pub(super) async fn take(&self, owner: &str, declared: ClientCapabilities) -> Result<Lease, ClientError> {
        let key = Key { owner: owner.to_owned(), declared };
        let held = match self.shelf.take(&key) {
            Some(held) => held,
            None => self.make(declared).await?,
        };
        Ok(Lease {
            key,
            held: Some(held),
            shelf: Arc::clone(&self.shelf),
            stop: self.upstream.inner.parts.stop.clone(),
            is_done: false,
        })
    }

    async fn make(&self, declared: ClientCapabilities) -> Result<Held, ClientError> {
        let seat = match Arc::clone(&self.seats).try_acquire_owned() {
            Ok(seat) => Some(seat),
            // Somebody else's that waits for a call makes room.
            Err(_) => {
                drop(self.shelf.oldest());
                Arc::clone(&self.seats).try_acquire_owned().ok()
            }
        };
        let busy = || ClientError::NotSent(format!("{MCP_POOL} calls to this server are under way; try again"));
        let seat = seat.ok_or_else(busy)?;
        // A server that is down says so at once, and what era it speaks is known.
        let known = self.upstream.connection().await?.revision().era();
        let parts = &self.upstream.inner.parts;
        let connecting = Connecting {
            endpoint: parts.place.endpoint().map_err(ClientError::Start)?,
            only: parts.only,
            known: Some(known),
            declared,
            patience: parts.startup,
            tracker: parts.tracker.clone(),
        };
        let connection = connect(connecting).await.map_err(|(error, _)| error)?;
        self.shelf.sweep_later(&self.upstream);
        Ok(Held { connection, level: None, _seat: seat })
    }
}

impl Shelf {
    fn take(&self, key: &Key) -> Option<Held> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|idle| idle.key == *key && idle.held.connection.ended().is_none())?;
        idle.remove(at).map(|idle| idle.held)
    }

    fn oldest(&self) -> Option<Idle> {
        self.lock().pop_front()
    }

    /// Ends what nobody used for a while, once that while is over.
    fn sweep_later(self: &Arc<Self>, upstream: &Upstream) {
        let (shelf, stop) = (Arc::downgrade(self), upstream.inner.parts.stop.clone());
        upstream.inner.parts.tracker.spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = sleep(MCP_POOL_IDLE) => {}
                }
                let Some(shelf) = shelf.upgrade() else { return };
                let is_over = stop.is_cancelled();
                let mut idle = shelf.lock();
                idle.retain(|idle| !is_over && idle.since.elapsed() < MCP_POOL_IDLE);
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
    /// The conversation.
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.held.as_ref().map(|held| &held.connection)
    }

    /// Notes the level of log lines that the server was told; whether that is news.
    pub(super) fn tells_level(&mut self, level: LogLevel) -> bool {
        self.held.as_mut().is_some_and(|held| held.level.replace(level) != Some(level))
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
