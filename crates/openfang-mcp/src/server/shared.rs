//! What all servers of one process share: the sessions and used states of each owner, and what was counted. A session
//! that ends at one server ends at all of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use openfang_types::limits::{
    Limits, MCP_REPLAY_BYTES_PER_OWNER, MCP_SESSIONS, MCP_SSE_PEERS, MCP_SUBSCRIPTION_BYTES,
    MCP_SUBSCRIPTION_BYTES_PER_OWNER, MCP_USED_STATES,
};
use openfang_types::quota::Quota;

use super::sessions::Sessions;
use super::used_states::UsedStates;
use crate::counts::Counts;
use crate::host::{Forgetful, SessionJournal};

/// What all servers of one process share.
pub struct Shared {
    pub(super) sessions: Sessions,
    pub(super) used_states: UsedStates,
    pub(super) sse_peers: Quota,
    pub(crate) counts: Arc<Counts>,
    owners: Mutex<HashMap<String, Weak<OwnerMemory>>>,
    servers: AtomicU64,
}

impl Shared {
    /// With the limits of a configuration. The caps of all owners together leave room for two, whatever one may have.
    pub fn new(limits: &Limits) -> Arc<Self> {
        Self::remembering(limits, Arc::new(Forgetful))
    }

    /// The same, where sessions that were ended stay so after a restart.
    pub fn remembering(limits: &Limits, journal: Arc<dyn SessionJournal>) -> Arc<Self> {
        let quota = |per_owner: usize, in_all: usize| Quota::new(per_owner, in_all.max(per_owner.saturating_mul(2)));
        Arc::new(Self {
            sessions: Sessions::new(quota(limits.mcp_sessions_per_owner, MCP_SESSIONS), journal),
            used_states: UsedStates::new(quota(limits.request_states_per_owner, MCP_USED_STATES)),
            sse_peers: quota(limits.sse_streams_per_owner, MCP_SSE_PEERS),
            counts: Arc::default(),
            owners: Mutex::default(),
            servers: AtomicU64::new(0),
        })
    }

    pub const fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// A number for a server, to tell its sessions from those of others.
    pub(super) fn next_server(&self) -> u64 {
        self.servers.fetch_add(1, Ordering::Relaxed)
    }

    /// What an owner's sessions and listeners take.
    pub(super) fn memory_of(&self, owner: &str) -> Arc<OwnerMemory> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = owners.get(owner).and_then(Weak::upgrade) {
            return memory;
        }
        owners.retain(|_, memory| memory.strong_count() > 0);
        let memory = Arc::default();
        owners.insert(owner.to_owned(), Arc::downgrade(&memory));
        memory
    }
}

/// What the sessions and listeners of one owner take together.
#[derive(Default)]
pub(crate) struct OwnerMemory {
    replay_bytes: AtomicUsize,
    subscription_bytes: AtomicUsize,
}

impl OwnerMemory {
    pub(crate) fn keep(&self, bytes: usize) {
        self.replay_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn forget(&self, bytes: usize) {
        self.replay_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether more is kept for replay than may be.
    pub(crate) fn is_over(&self) -> bool {
        self.replay_bytes.load(Ordering::Relaxed) > MCP_REPLAY_BYTES_PER_OWNER
    }

    /// Takes room for subscriptions to these URIs; none where the owner has too many.
    pub(crate) fn subscribe<'a>(self: &Arc<Self>, uris: impl Iterator<Item = &'a str>) -> Option<Subscriptions> {
        let bytes = uris.map(|uri| uri.len() + MCP_SUBSCRIPTION_BYTES).sum();
        let before = self.subscription_bytes.fetch_add(bytes, Ordering::Relaxed);
        let taken = Subscriptions { memory: Arc::clone(self), bytes };
        (before + bytes <= MCP_SUBSCRIPTION_BYTES_PER_OWNER).then_some(taken)
    }
}

/// Room for subscriptions, until it is dropped.
pub(crate) struct Subscriptions {
    memory: Arc<OwnerMemory>,
    bytes: usize,
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.memory.subscription_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
