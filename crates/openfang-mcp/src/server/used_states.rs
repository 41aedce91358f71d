//! Request states that were used, until they would have expired anyway: none is used twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use openfang_types::quota::Quota;

pub(super) const NONCE_BYTES: usize = 16;

/// What a state's use comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It was not used before.
    First,
    Again,
    /// There is no room to remember it, so it cannot be used.
    NoRoom,
}

/// The used states of all owners.
pub(super) struct UsedStates {
    quota: Quota,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    /// When each expires, by owner.
    owners: HashMap<String, HashMap<[u8; NONCE_BYTES], i64>>,
    all: usize,
    /// When those of all owners were last looked through.
    swept: i64,
}

impl UsedStates {
    pub(super) fn new(quota: Quota) -> Self {
        Self { quota, used: Mutex::default() }
    }

    /// Uses a state up.
    pub(super) fn use_up(&self, owner: &str, nonce: [u8; NONCE_BYTES], expiry: i64, now: i64) -> Use {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.has_room(&used, owner) {
            used.forget_expired(owner, now);
            if !self.has_room(&used, owner) {
                return Use::NoRoom;
            }
        }
        let owned = match used.owners.get_mut(owner) {
            Some(owned) => owned,
            None => used.owners.entry(owner.to_owned()).or_default(),
        };
        if owned.insert(nonce, expiry).is_some() {
            return Use::Again;
        }
        used.all += 1;
        Use::First
    }

    fn has_room(&self, used: &Used, owner: &str) -> bool {
        let owned = used.owners.get(owner).map_or(0, HashMap::len);
        self.quota.admits(owned, used.all, 1)
    }
}

impl Used {
    /// Looks through the owner's states, and at most once a second through those of all.
    fn forget_expired(&mut self, owner: &str, now: i64) {
        if self.swept == now {
            if let Some(owned) = self.owners.get_mut(owner) {
                let before = owned.len();
                owned.retain(|_, expiry| *expiry >= now);
                self.all -= before - owned.len();
            }
            return;
        }
        self.swept = now;
        self.owners.retain(|_, owned| {
            owned.retain(|_, expiry| *expiry >= now);
            !owned.is_empty()
        });
        self.all = self.owners.values().map(HashMap::len).sum();
    }
}

#[cfg(test)]
#[path = "used_states_tests.rs"]
mod tests;
