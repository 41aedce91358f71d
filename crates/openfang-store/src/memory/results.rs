//! Kept results in a map.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::{Owner, ResultId};
use openfang_types::limits::RESULTS_PER_OWNER;

use super::kept_bytes::{KeptBytes, Kind};
use crate::{KeptResult, ResultStore, StoreError, StoreFuture};

/// Kept results in memory.
#[derive(Default)]
pub struct MemoryResults {
    results: Mutex<HashMap<ResultId, (Owner, KeptResult)>>,
    kept: Arc<KeptBytes>,
}

impl MemoryResults {
    pub(crate) fn new(kept: Arc<KeptBytes>) -> Self {
        Self { kept, ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResultId, (Owner, KeptResult)>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delete(&self, now: Timestamp) -> usize {
        let mut results = self.lock();
        let before = results.len();
        results.retain(|_, (owner, result)| {
            let stays = !result.is_expired(now);
            if !stays {
                self.kept.book(owner, Kind::Results, weight(result), 0);
            }
            stays
        });
        before - results.len()
    }

    fn insert(&self, owner: &Owner, id: ResultId, result: KeptResult) -> Result<(), StoreError> {
        let mut results = self.lock();
        if results.values().filter(|(whose, _)| whose == owner).count() >= RESULTS_PER_OWNER {
            return Err(StoreError::TooMany { what: "kept results", limit: RESULTS_PER_OWNER });
        }
        self.kept.replace(owner, Kind::Results, 0, weight(&result))?;
        results.insert(id, (owner.clone(), result));
        Ok(())
    }
}

const fn weight(result: &KeptResult) -> u64 {
    result.content.len() as u64
}

impl ResultStore for MemoryResults {
    fn keep<'a>(&'a self, owner: &'a Owner, id: ResultId, result: KeptResult, now: Timestamp) -> StoreFuture<'a, ()> {
        self.delete(now);
        let done = self.insert(owner, id, result);
        Box::pin(async move { done })
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: ResultId, now: Timestamp) -> StoreFuture<'a, Option<KeptResult>> {
        let found = self
            .lock()
            .get(&id)
            .filter(|(whose, result)| whose == owner && !result.is_expired(now))
            .cloned();
        Box::pin(async move { Ok(found.map(|(_, result)| result)) })
    }

    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        let deleted = self.delete(now);
        Box::pin(async move { Ok(deleted) })
    }
}
