//! What each owner keeps in memory, in bytes: one account for tasks, transcripts, files, keys and kept results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::ids::Owner;

use crate::{OwnerBytes, Quota, StoreError};

/// The accounts of all owners.
#[derive(Default)]
pub(crate) struct KeptBytes {
    quota: Arc<Quota>,
    owners: Mutex<HashMap<Owner, OwnerBytes>>,
}

/// What takes the room.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Tasks,
    Files,
    Memory,
    /// Kept results, which have a share only.
    Results,
    Transcripts,
    Queue,
}

impl KeptBytes {
    pub(crate) fn new(quota: Arc<Quota>) -> Self {
        Self { quota, ..Self::default() }
    }

    /// Books `to` bytes in the place of `from`, unless there is no room for more.
    pub(crate) fn replace(&self, owner: &Owner, kind: Kind, from: u64, to: u64) -> Result<(), StoreError> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = owners.get(owner).copied().unwrap_or_default();
        let more = to.saturating_sub(from);
        match kind {
            Kind::Tasks | Kind::Files | Kind::Memory | Kind::Transcripts | Kind::Queue => {
                self.quota.check(owner, kept, more)?;
            }
            Kind::Results => self.quota.check_results(owner, kept, more)?,
        }
        book(owners.entry(owner.clone()).or_default(), kind, from, to);
        Ok(())
    }

    /// Books all of these, unless there is no room for them together.
    pub(crate) fn add(&self, owner: &Owner, more: &[(Kind, u64)]) -> Result<(), StoreError> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = owners.get(owner).copied().unwrap_or_default();
        self.quota.check(owner, kept, more.iter().map(|(_, bytes)| bytes).sum())?;
        let account = owners.entry(owner.clone()).or_default();
        more.iter().for_each(|(kind, bytes)| book(account, *kind, 0, *bytes));
        Ok(())
    }

    /// Books more, room or not: what ends a task is always written.
    pub(crate) fn book(&self, owner: &Owner, kind: Kind, from: u64, to: u64) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        book(owners.entry(owner.clone()).or_default(), kind, from, to);
    }
}

const fn book(kept: &mut OwnerBytes, kind: Kind, from: u64, to: u64) {
    let account = match kind {
        Kind::Tasks => &mut kept.tasks,
        Kind::Files => &mut kept.files,
        Kind::Memory => &mut kept.memory,
        Kind::Results => &mut kept.results,
        Kind::Transcripts => &mut kept.transcripts,
        Kind::Queue => &mut kept.queue,
    };
    *account = account.saturating_sub(from).saturating_add(to);
}
