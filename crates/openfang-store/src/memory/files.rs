//! Records of workspace files in a sorted map.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::ids::Owner;
use openfang_types::limits::FILES_PER_OWNER;
use openfang_types::taint::Labels;

use super::kept_bytes::{KeptBytes, Kind};
use crate::{FilePath, FileRecord, FileStore, StoreError, StoreFuture};

/// Records of files in memory.
#[derive(Default)]
pub struct MemoryFiles {
    records: Mutex<BTreeMap<FilePath, FileRecord>>,
    kept: Arc<KeptBytes>,
}

impl MemoryFiles {
    pub(crate) fn new(kept: Arc<KeptBytes>) -> Self {
        Self { kept, ..Self::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<FilePath, FileRecord>) -> T) -> T {
        work(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(
        &self,
        at: FilePath,
        next: impl FnOnce(Option<&FileRecord>) -> Option<FileRecord>,
    ) -> Result<Option<FileRecord>, StoreError> {
        self.with(|records| {
            let before = records.get(&at).cloned();
            let after = next(before.as_ref());
            let own = || records.keys().filter(|path| path.owner == at.owner).count();
            if before.is_none() && after.is_some() && own() >= FILES_PER_OWNER {
                return Err(StoreError::TooMany { what: "files", limit: FILES_PER_OWNER });
            }
            let weight = |record: &FileRecord| record.bytes + at.path.len() as u64;
            let [from, to] = [&before, &after].map(|record| record.as_ref().map_or(0, weight));
            self.kept.replace(&at.owner, Kind::Files, from, to)?;
            match after {
                Some(record) => records.insert(at, record),
                None => records.remove(&at),
            };
            Ok(before)
        })
    }
}

fn at(owner: &Owner, path: &str) -> FilePath {
    FilePath { owner: owner.clone(), path: path.to_owned() }
}

impl FileStore for MemoryFiles {
    fn announce<'a>(
        &'a self,
        owner: &'a Owner,
        path: &'a str,
        next: FileRecord,
    ) -> StoreFuture<'a, Option<FileRecord>> {
        let done = self.replace(at(owner, path), |before| {
            Some(before.map_or_else(|| next.clone(), |before| before.either(&next)))
        });
        Box::pin(async move { done })
    }

    fn settle<'a>(&'a self, owner: &'a Owner, path: &'a str, record: Option<FileRecord>) -> StoreFuture<'a, ()> {
        let done = self.replace(at(owner, path), |_| record).map(|_| ());
        Box::pin(async move { done })
    }

    fn get<'a>(&'a self, owner: &'a Owner, path: &'a str) -> StoreFuture<'a, Option<FileRecord>> {
        let found = self.with(|records| records.get(&at(owner, path)).cloned());
        Box::pin(async move { Ok(found) })
    }

    fn labels_below<'a>(&'a self, owner: &'a Owner, directory: &'a str) -> StoreFuture<'a, Labels> {
        let prefix = format!("{directory}/");
        let labels = self.with(|records| {
            let below = records.range(at(owner, &prefix)..);
            let below = below.take_while(|(path, _)| path.owner == *owner && path.path.starts_with(&prefix));
            below.fold(Labels::none(), |labels, (_, record)| labels.joined(&record.labels))
        });
        Box::pin(async move { Ok(labels) })
    }

    fn paths<'a>(&'a self, after: Option<&'a FilePath>, limit: usize) -> StoreFuture<'a, Vec<FilePath>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let paths = self.with(|records| {
            let next = records.range((from, Bound::Unbounded)).take(limit);
            next.map(|(path, _)| path.clone()).collect()
        });
        Box::pin(async move { Ok(paths) })
    }
}
