//! Users in SQLite. Every write that changes credentials increments the generation in the same transaction.

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId, Owner};
use openfang_types::secret::Secret;
use rusqlite::ToSql;
use tokio::sync::watch;

use super::batch::Batch;
use super::{Sqlite, unavailable};
use crate::{Accounts, Login, NewKey, NewUser, StoreError, StoreFuture, User, UserKey, UserStore};

mod read;
mod write;

/// The users of a database.
pub(super) struct SqliteUsers {
    sqlite: Sqlite,
}

impl SqliteUsers {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }

    /// A write that changes credentials.
    fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.sqlite.write(move |batch| {
            let done = work(batch)?;
            execute(
                batch,
                "INSERT INTO meta (key, value) VALUES ('accounts', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
                &[],
            )?;
            batch.accounts_changed();
            Ok(done)
        })
    }
}

impl UserStore for SqliteUsers {
    fn add_user(&self, new: NewUser) -> StoreFuture<'_, ()> {
        self.change(move |batch| write::add_user(batch, &new))
    }

    fn user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, User> {
        let name = name.clone();
        self.sqlite.read(move |connection| read::user(connection, &name))
    }

    fn users(&self) -> StoreFuture<'_, Vec<User>> {
        self.sqlite.read(read::users)
    }

    fn was_user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, bool> {
        let name = name.clone();
        self.sqlite.read(move |connection| read::was_user(connection, &name))
    }

    fn remove_user<'a>(&'a self, name: &'a Owner, at: Timestamp) -> StoreFuture<'a, ()> {
        let name = name.clone();
        self.change(move |batch| write::remove_user(batch, &name, at))
    }

    fn set_grants<'a>(&'a self, name: &'a Owner, grants: Vec<String>) -> StoreFuture<'a, ()> {
        let name = name.clone();
        self.change(move |batch| write::set_grants(batch, &name, &grants))
    }

    fn set_password<'a>(&'a self, name: &'a Owner, hash: Option<Secret>) -> StoreFuture<'a, ()> {
        let name = name.clone();
        self.change(move |batch| write::set_password(batch, &name, hash.as_ref()))
    }

    fn add_key(&self, new: NewKey) -> StoreFuture<'_, ()> {
        self.change(move |batch| write::add_key(batch, &new))
    }

    fn keys<'a>(&'a self, owner: Option<&'a Owner>) -> StoreFuture<'a, Vec<UserKey>> {
        let owner = owner.cloned();
        self.sqlite.read(move |connection| read::keys(connection, owner.as_ref()))
    }

    fn revoke_key<'a>(&'a self, id: &'a KeyId, at: Timestamp) -> StoreFuture<'a, UserKey> {
        let id = id.clone();
        self.change(move |batch| write::revoke_key(batch, &id, at))
    }

    fn keys_used(&self, uses: Vec<(KeyId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.sqlite.write(move |batch| write::keys_used(batch, &uses))
    }

    fn add_login(&self, new: Login) -> StoreFuture<'_, ()> {
        self.change(move |batch| write::add_login(batch, &new))
    }

    fn end_login(&self, id: LoginId) -> StoreFuture<'_, ()> {
        self.change(move |batch| write::end_login(batch, id))
    }

    fn purge(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        self.change(move |batch| write::purge(batch, now))
    }

    fn accounts(&self, since: Option<u64>) -> Result<Option<Accounts>, StoreError> {
        self.sqlite.inner.readers.here(|connection| read::accounts(connection, since))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.sqlite.inner.watchers.elsewhere()
    }
}

fn execute(batch: &Batch<'_>, sql: &str, values: &[&dyn ToSql]) -> Result<usize, StoreError> {
    let prepared = batch.connection.prepare_cached(sql);
    prepared.and_then(|mut statement| statement.execute(values)).map_err(unavailable)
}

#[cfg(test)]
#[path = "users_tests.rs"]
mod tests;
