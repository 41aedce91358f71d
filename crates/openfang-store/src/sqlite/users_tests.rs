//! Users in SQLite keep the contract: by themselves, and as two processes that share a file.

use super::super::tests::Home;
use super::*;
use crate::contract::{self, owner};

/// Writes through one connection and reads through another, as two processes would.
struct Shared {
    writes: SqliteUsers,
    reads: SqliteUsers,
    _home: Home,
}

fn alone() -> Box<dyn UserStore> {
    let home = Home::new();
    let sqlite = home.open();
    Box::new(Shared { writes: SqliteUsers::new(sqlite.clone()), reads: SqliteUsers::new(sqlite), _home: home })
}

fn two_processes() -> Box<dyn UserStore> {
    let home = Home::new();
    Box::new(Shared { writes: SqliteUsers::new(home.open()), reads: SqliteUsers::new(home.open()), _home: home })
}

impl UserStore for Shared {
    fn add_user(&self, new: NewUser) -> StoreFuture<'_, ()> {
        self.writes.add_user(new)
    }

    fn user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, User> {
        self.reads.user(name)
    }

    fn users(&self) -> StoreFuture<'_, Vec<User>> {
        self.reads.users()
    }

    fn was_user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, bool> {
        self.reads.was_user(name)
    }

    fn remove_user<'a>(&'a self, name: &'a Owner, at: Timestamp) -> StoreFuture<'a, ()> {
        self.writes.remove_user(name, at)
    }

    fn set_grants<'a>(&'a self, name: &'a Owner, grants: Vec<String>) -> StoreFuture<'a, ()> {
        self.writes.set_grants(name, grants)
    }

    fn set_password<'a>(&'a self, name: &'a Owner, hash: Option<Secret>) -> StoreFuture<'a, ()> {
        self.writes.set_password(name, hash)
    }

    fn add_key(&self, new: NewKey) -> StoreFuture<'_, ()> {
        self.writes.add_key(new)
    }

    fn keys<'a>(&'a self, owner: Option<&'a Owner>) -> StoreFuture<'a, Vec<UserKey>> {
        self.reads.keys(owner)
    }

    fn revoke_key<'a>(&'a self, id: &'a KeyId, at: Timestamp) -> StoreFuture<'a, UserKey> {
        self.writes.revoke_key(id, at)
    }

    fn keys_used(&self, uses: Vec<(KeyId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.writes.keys_used(uses)
    }

    fn add_login(&self, new: Login) -> StoreFuture<'_, ()> {
        self.writes.add_login(new)
    }

    fn end_login(&self, id: LoginId) -> StoreFuture<'_, ()> {
        self.writes.end_login(id)
    }

    fn purge(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        self.writes.purge(now)
    }

    fn accounts(&self, since: Option<u64>) -> Result<Option<Accounts>, StoreError> {
        self.reads.accounts(since)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.reads.changes()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_keep_the_contract() {
    contract::users(alone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_keep_the_contract() {
    contract::users(two_processes).await;
}

#[tokio::test]
async fn nothing_that_opens_a_door_is_in_the_file() {
    let home = Home::new();
    let users = home.open().stores().users;
    let key = "ofk_0123456789ab_canary-of-a-key";
    users.add_user(contract::new_user("ada")).await.unwrap();
    users.add_key(contract::new_key("ada", "0123456789ab", key)).await.unwrap();
    drop(users);

    let bytes = std::fs::read(home.path()).unwrap();

    assert!(!bytes.windows(6).any(|window| window == b"canary"));
    assert!(bytes.windows(3).any(|window| window == b"ada"));
    let held = home.open().stores().users.keys(Some(&owner("ada"))).await.unwrap();
    assert!(!format!("{held:?}").contains("canary"));
}
