//! Calls of one kind that are under way, by owner: each owner has a share that nobody else can take.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::ids::Owner;

use crate::tools::ToolFailure;

/// The calls of one kind.
pub(crate) struct CallRoom {
    live: Mutex<HashMap<Owner, usize>>,
    most: usize,
    /// What an owner with too many calls is told, behind their number.
    words: &'static str,
}

/// A call that is under way, until this is dropped.
pub(crate) struct LiveCall<'a> {
    room: &'a CallRoom,
    owner: Owner,
}

impl CallRoom {
    /// Room for so many calls of each owner. The words name them, as in "programs are running".
    pub(crate) fn new(most: usize, words: &'static str) -> Self {
        Self { live: Mutex::default(), most, words }
    }

    /// Room for one more call of an owner.
    pub(crate) fn begin(&self, owner: &Owner) -> Result<LiveCall<'_>, ToolFailure> {
        let mut live = self.lock();
        let calls = live.entry(owner.clone()).or_default();
        if *calls >= self.most {
            return Err(ToolFailure::new(format!("{} {} already; wait for one to end", self.most, self.words)));
        }
        *calls += 1;
        Ok(LiveCall { room: self, owner: owner.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveCall<'_> {
    fn drop(&mut self) {
        let mut live = self.room.lock();
        if let Some(calls) = live.get_mut(&self.owner) {
            *calls = calls.saturating_sub(1);
            if *calls == 0 {
                live.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
#[path = "call_room_tests.rs"]
mod tests;
