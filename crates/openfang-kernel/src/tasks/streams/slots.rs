//! How many streams each owner has open, and how many of them hold something large.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::ids::Owner;
use openfang_types::limits::STREAMS_LARGE_PER_OWNER;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::KernelError;

/// How many streams each owner has open.
#[derive(Default)]
pub(crate) struct OpenStreams {
    owners: Mutex<HashMap<Owner, Share>>,
}

struct Share {
    open: usize,
    turns: Arc<Semaphore>,
}

impl Default for Share {
    fn default() -> Self {
        Self { open: 0, turns: Arc::new(Semaphore::new(STREAMS_LARGE_PER_OWNER)) }
    }
}

/// One open stream; closes when it is dropped.
pub(super) struct Slot {
    streams: Arc<OpenStreams>,
    owner: Owner,
    turns: Arc<Semaphore>,
}

impl OpenStreams {
    pub(super) fn take(self: &Arc<Self>, owner: &Owner, limit: usize) -> Result<Slot, KernelError> {
        let mut owners = self.lock();
        let share = owners.entry(owner.clone()).or_default();
        if share.open >= limit {
            return Err(KernelError::TooManyStreams { limit });
        }
        share.open += 1;
        Ok(Slot { streams: Arc::clone(self), owner: owner.clone(), turns: Arc::clone(&share.turns) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, Share>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Returns when the owner may have one more stream that holds something large.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut owners = self.streams.lock();
        if let Some(share) = owners.get_mut(&self.owner) {
            share.open -= 1;
            if share.open == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}
