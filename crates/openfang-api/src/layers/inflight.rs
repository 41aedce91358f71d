//! Limits the memory of requests and large answers per owner, from reading to writing.
//!
//! A request counts with the size of its parsed tree while its body is held. The smallest requests are not counted. A
//! request is refused while its owner has too much in progress. An answer with a large task waits for room before the
//! task is read ([`answers`]). Other answers are never refused, because their effects have already happened, but they
//! count against later requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use axum::body::HttpBody;
use openfang_types::ids::Owner;
use openfang_types::limits::{
    INFLIGHT_COPIES, INFLIGHT_PIECE_BYTES, INFLIGHT_SMALL_BYTES, Limits, OFF_WORKER_FROM_BYTES,
};
use openfang_types::quota::Quota;
use openfang_types::scan::tree_bytes_at_most;
use tokio::sync::{Notify, Semaphore};

use crate::error::ApiError;

pub(super) use answers::{Room, counted};

mod answers;

/// What is under way.
pub(crate) struct Inflight {
    quota: RwLock<Quota>,
    all: AtomicUsize,
    owners: Mutex<HashMap<Owner, usize>>,
    /// The turn of each owner with large requests or answers.
    turns: Mutex<HashMap<Owner, Weak<Semaphore>>>,
    /// Notifies waiting answers about released memory.
    freed: Notify,
}

/// The memory of one request and its answer, released when it is dropped.
pub(crate) struct Load {
    inflight: Arc<Inflight>,
    owner: Owner,
    bytes: AtomicUsize,
    /// Whether the body is large enough to be processed off the worker.
    is_large: AtomicBool,
}

impl Inflight {
    /// One owner may use half of the limit, but always one body of the maximum size. The same amount counts as little.
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            quota: RwLock::new(quota_of(limits)),
            all: AtomicUsize::new(0),
            owners: Mutex::default(),
            turns: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Applies other limits from now on.
    pub(super) fn follow(&self, limits: &Limits) {
        *self.quota.write().unwrap_or_else(PoisonError::into_inner) = quota_of(limits);
    }

    fn quota(&self) -> Quota {
        *self.quota.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of this owner is admitted. Free of cost while little is in progress.
    pub(super) fn admit(&self, owner: &Owner) -> Result<(), ApiError> {
        let all = self.all.load(Ordering::Relaxed);
        let quota = self.quota();
        if all < quota.per_owner() {
            return Ok(());
        }
        let owned = self.lock().get(owner).copied().unwrap_or_default();
        quota.admits(owned, all, 1).then_some(()).ok_or_else(ApiError::too_much)
    }

    /// The load of a request whose body counts or has an unknown size.
    pub(super) fn load(self: &Arc<Self>, owner: &Owner) -> Arc<Load> {
        Arc::new(Load {
            inflight: Arc::clone(self),
            owner: owner.clone(),
            bytes: AtomicUsize::new(0),
            is_large: AtomicBool::new(false),
        })
    }

    /// The turn of an owner: of its large requests and answers one is processed at a time, so that owners alternate.
    fn turn_of(&self, owner: &Owner) -> Arc<Semaphore> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(owner).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Semaphore::new(1));
        turns.insert(owner.clone(), Arc::downgrade(&turn));
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, owner: &Owner, bytes: usize, is_refusable: bool) -> Result<(), ApiError> {
        let mut owners = self.lock();
        let owned = owners.get(owner).copied().unwrap_or_default();
        if is_refusable && !self.quota().admits(owned, self.all.load(Ordering::Relaxed), bytes) {
            return Err(ApiError::too_much());
        }
        owners.insert(owner.clone(), owned + bytes);
        self.all.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn give_back(&self, owner: &Owner, bytes: usize) {
        let mut owners = self.lock();
        self.all.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(owned) = owners.get_mut(owner) {
            *owned -= bytes;
            if *owned == 0 {
                owners.remove(owner);
            }
        }
        drop(owners);
        self.freed.notify_waiters();
    }
}

fn quota_of(limits: &Limits) -> Quota {
    let body = limits.body_bytes.saturating_mul(INFLIGHT_COPIES);
    let per_owner = (limits.inflight_bytes / 2).max(body);
    let in_all = limits.inflight_bytes.max(per_owner.saturating_mul(2));
    Quota::new(per_owner, in_all).with_little(body)
}

impl Load {
    /// So much of the body was read.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), ApiError> {
        let counted = self.bytes.load(Ordering::Relaxed);
        let step = if counted < INFLIGHT_PIECE_BYTES { INFLIGHT_SMALL_BYTES } else { INFLIGHT_PIECE_BYTES };
        if bytes < counted + step {
            return Ok(());
        }
        self.grow(bytes - counted)
    }

    /// The body was read. It is going to be weighed, copied and parsed: from the next step on off the worker, if it is
    /// large.
    pub(crate) async fn read_whole(&self, body: &[u8]) -> Result<(), ApiError> {
        if body.len() >= OFF_WORKER_FROM_BYTES {
            self.is_large.store(true, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
        self.weigh(body)
    }

    fn weigh(&self, body: &[u8]) -> Result<(), ApiError> {
        if body.len() < INFLIGHT_SMALL_BYTES {
            return Ok(());
        }
        // A single document is always admitted, whatever its parsed size.
        let weight = (body.len() * INFLIGHT_COPIES).saturating_add(tree_bytes_at_most(body));
        let weight = weight.min(self.inflight.quota().per_owner());
        self.grow(weight.saturating_sub(self.bytes.load(Ordering::Relaxed)))
    }

    /// Whether the body was read and is large. Reading its pieces is not worth leaving the worker for: each time takes a
    /// thread.
    pub(super) fn is_large(&self) -> bool {
        self.is_large.load(Ordering::Relaxed)
    }

    fn counts(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > 0
    }

    fn grow(&self, bytes: usize) -> Result<(), ApiError> {
        self.inflight.add(&self.owner, bytes, true)?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        if bytes > 0 {
            self.inflight.give_back(&self.owner, bytes);
        }
    }
}

/// Whether a body counts, or may count.
pub(super) fn may_count(body: &impl HttpBody) -> bool {
    body.size_hint().upper().is_none_or(|upper| upper >= INFLIGHT_SMALL_BYTES as u64)
}

#[cfg(test)]
#[path = "inflight_tests.rs"]
mod tests;
