//! Keys and values in a sorted map per owner.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::ids::Owner;
use openfang_types::limits::MEMORY_KEYS_PER_OWNER;

use super::kept_bytes::{KeptBytes, Kind};
use crate::{KeyValueStore, ListedKey, StoreError, StoreFuture, StoredValue};

/// Keys and values in memory.
#[derive(Default)]
pub struct MemoryKeyValues {
    owners: Mutex<HashMap<Owner, BTreeMap<String, StoredValue>>>,
    kept: Arc<KeptBytes>,
}

impl MemoryKeyValues {
    pub(crate) fn new(kept: Arc<KeptBytes>) -> Self {
        Self { kept, ..Self::default() }
    }

    fn with<T>(&self, owner: &Owner, work: impl FnOnce(&mut BTreeMap<String, StoredValue>) -> T) -> T {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        work(owners.entry(owner.clone()).or_default())
    }
}

impl KeyValueStore for MemoryKeyValues {
    fn put<'a>(&'a self, owner: &'a Owner, key: &'a str, kept: StoredValue) -> StoreFuture<'a, ()> {
        let outcome = self.with(owner, |values| {
            if values.len() >= MEMORY_KEYS_PER_OWNER && !values.contains_key(key) {
                return Err(StoreError::TooManyKeys { limit: MEMORY_KEYS_PER_OWNER });
            }
            let weight = |kept: &StoredValue| (key.len() + kept.value.len()) as u64;
            let before = values.get(key).map_or(0, weight);
            self.kept.replace(owner, Kind::Memory, before, weight(&kept))?;
            values.insert(key.to_owned(), kept);
            Ok(())
        });
        Box::pin(async move { outcome })
    }

    fn get<'a>(&'a self, owner: &'a Owner, key: &'a str) -> StoreFuture<'a, Option<StoredValue>> {
        let kept = self.with(owner, |values| values.get(key).cloned());
        Box::pin(async move { Ok(kept) })
    }

    fn keys<'a>(&'a self, owner: &'a Owner, prefix: &'a str, limit: usize) -> StoreFuture<'a, Vec<ListedKey>> {
        let keys = self.with(owner, |values| {
            let from_prefix = values.range(prefix.to_owned()..);
            let matching = from_prefix.take_while(|(key, _)| key.starts_with(prefix)).take(limit);
            matching
                .map(|(key, kept)| ListedKey { key: key.clone(), labels: kept.labels.clone() })
                .collect()
        });
        Box::pin(async move { Ok(keys) })
    }
}
