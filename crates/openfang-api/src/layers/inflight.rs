//! Large requests and answers, bounded together: what each owner has in memory, as it is read and until it is written.
//!
//! Small ones are not counted. A request is refused while its owner has too much under way. An answer that shows a large
//! task waits for room before the task is read ([`answers`]). Other answers are never refused, because what they tell has
//! happened already, but they count for the requests that follow.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::HttpBody;
use openfang_types::ids::Owner;
use openfang_types::limits::{INFLIGHT_COPIES, INFLIGHT_FROM_BYTES, INFLIGHT_PIECE_BYTES, Limits};
use openfang_types::quota::Quota;
use tokio::sync::Notify;

use crate::error::ApiError;

pub(super) use answers::{Room, counted};

mod answers;

/// What is under way.
pub(crate) struct Inflight {
    quota: Quota,
    all: AtomicUsize,
    owners: Mutex<HashMap<Owner, usize>>,
    /// Something was given back.
    freed: Notify,
}

/// What one request has under way, with its answer. Given back when it is dropped.
pub(crate) struct Load {
    inflight: Arc<Inflight>,
    owner: Owner,
    bytes: AtomicUsize,
}

impl Inflight {
    /// One owner may have half of it, but always a body of the largest size; that much is also what counts as little.
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        let body = limits.body_bytes.saturating_mul(INFLIGHT_COPIES);
        let per_owner = (limits.inflight_bytes / 2).max(body);
        let in_all = limits.inflight_bytes.max(per_owner.saturating_mul(2));
        let quota = Quota::new(per_owner, in_all).with_little(body);
        Arc::new(Self { quota, all: AtomicUsize::new(0), owners: Mutex::default(), freed: Notify::new() })
    }

    /// Whether a request of this owner is taken. Costs nothing while little is under way.
    pub(super) fn admit(&self, owner: &Owner) -> Result<(), ApiError> {
        let all = self.all.load(Ordering::Relaxed);
        if all < self.quota.per_owner() {
            return Ok(());
        }
        let owned = self.lock().get(owner).copied().unwrap_or_default();
        self.quota.admits(owned, all, 1).then_some(()).ok_or_else(ApiError::too_much)
    }

    /// The load of a request whose body is large or of unknown size.
    pub(super) fn load(self: &Arc<Self>, owner: &Owner) -> Arc<Load> {
        Arc::new(Load { inflight: Arc::clone(self), owner: owner.clone(), bytes: AtomicUsize::new(0) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, owner: &Owner, bytes: usize, is_refusable: bool) -> Result<(), ApiError> {
        let mut owners = self.lock();
        let owned = owners.get(owner).copied().unwrap_or_default();
        if is_refusable && !self.quota.admits(owned, self.all.load(Ordering::Relaxed), bytes) {
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

impl Load {
    /// So much of the body was read.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), ApiError> {
        let counted = self.bytes.load(Ordering::Relaxed);
        if bytes < INFLIGHT_FROM_BYTES || bytes < counted + INFLIGHT_PIECE_BYTES {
            return Ok(());
        }
        self.grow(bytes - counted)
    }

    /// The body was read, and has so many bytes. It is going to be copied and parsed.
    pub(crate) fn read_whole(&self, bytes: usize) -> Result<(), ApiError> {
        if bytes < INFLIGHT_FROM_BYTES {
            return Ok(());
        }
        self.grow((bytes * INFLIGHT_COPIES).saturating_sub(self.bytes.load(Ordering::Relaxed)))
    }

    /// Whether the body is large by now.
    pub(super) fn is_large(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= INFLIGHT_FROM_BYTES
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

/// Whether a body is large, or may be.
pub(super) fn is_large(body: &impl HttpBody) -> bool {
    body.size_hint().upper().is_none_or(|upper| upper >= INFLIGHT_FROM_BYTES as u64)
}

#[cfg(test)]
#[path = "inflight_tests.rs"]
mod tests;
