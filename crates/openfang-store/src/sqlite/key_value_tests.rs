//! Memory in SQLite keeps the contract: by itself, and as two processes that share a file.

use super::super::tests::Home;
use super::*;
use crate::contract;

/// Writes through one connection and reads through another, as two processes would.
struct Shared {
    writes: SqliteKeyValues,
    reads: SqliteKeyValues,
    _home: Home,
}

fn alone() -> Box<dyn KeyValueStore> {
    let home = Home::new();
    let sqlite = home.open();
    let (writes, reads) = (SqliteKeyValues::new(sqlite.clone()), SqliteKeyValues::new(sqlite));
    Box::new(Shared { writes, reads, _home: home })
}

fn two_processes() -> Box<dyn KeyValueStore> {
    let home = Home::new();
    let (writes, reads) = (SqliteKeyValues::new(home.open()), SqliteKeyValues::new(home.open()));
    Box::new(Shared { writes, reads, _home: home })
}

impl KeyValueStore for Shared {
    fn put<'a>(&'a self, owner: &'a Owner, key: &'a str, kept: StoredValue) -> StoreFuture<'a, ()> {
        self.writes.put(owner, key, kept)
    }

    fn get<'a>(&'a self, owner: &'a Owner, key: &'a str) -> StoreFuture<'a, Option<StoredValue>> {
        self.reads.get(owner, key)
    }

    fn keys<'a>(&'a self, owner: &'a Owner, prefix: &'a str, limit: usize) -> StoreFuture<'a, Vec<ListedKey>> {
        self.reads.keys(owner, prefix, limit)
    }
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    contract::key_values(alone).await;
}

#[tokio::test]
async fn two_processes_keep_the_contract() {
    contract::key_values(two_processes).await;
}

#[tokio::test]
async fn keys_are_limited_per_owner() {
    contract::keys_are_limited_per_owner(&*alone()).await;
}
