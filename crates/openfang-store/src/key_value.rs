//! The contract of memory: what an owner's agents remember, each value with the labels it came with.

use openfang_types::ids::Owner;
use openfang_types::taint::Labels;

use crate::StoreFuture;

/// Keys and values of owners.
pub trait KeyValueStore: Send + Sync {
    /// Keeps a value, replacing the one that was there.
    fn put<'a>(&'a self, owner: &'a Owner, key: &'a str, kept: StoredValue) -> StoreFuture<'a, ()>;
    /// The value, with its labels.
    fn get<'a>(&'a self, owner: &'a Owner, key: &'a str) -> StoreFuture<'a, Option<StoredValue>>;
    /// Keys that begin with `prefix`, sorted, at most `limit`, each with the labels of its value.
    fn keys<'a>(&'a self, owner: &'a Owner, prefix: &'a str, limit: usize) -> StoreFuture<'a, Vec<ListedKey>>;
}

/// A key in a list. Whoever kept the value chose it, so it carries the same labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    pub key: String,
    /// Where it came from.
    pub labels: Labels,
}

/// A value that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredValue {
    pub value: String,
    /// Where it came from.
    pub labels: Labels,
}
