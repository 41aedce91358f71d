//! The contract of users: who there is, what each was granted, and what proves to be them. Of a key, and of the cookie
//! of a login, only a digest is kept; of a password, a slow hash.
//!
//! Who checks credentials keeps all of it at hand ([`UserStore::accounts`]) and takes it anew when
//! [`UserStore::changes`] says that it may have changed, whichever process did that.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId, Owner};
use openfang_types::secret::{REDACTED, Secret};
use openfang_types::taint::Label;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::{StoreError, StoreFuture};

/// Users, their keys and their logins. A write returns when it is durable.
pub trait UserStore: Send + Sync {
    /// Adds a user: a conflict if there is one of that name, or was one and the new one is not to follow it.
    fn add_user(&self, new: NewUser) -> StoreFuture<'_, ()>;
    /// One user.
    fn user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, User>;
    /// All users, by name.
    fn users(&self) -> StoreFuture<'_, Vec<User>>;
    /// Whether a user of that name was removed.
    fn was_user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, bool>;
    /// Removes a user; its keys are revoked and its logins end in the same moment. Its name stays taken.
    fn remove_user<'a>(&'a self, name: &'a Owner, at: Timestamp) -> StoreFuture<'a, ()>;
    /// Replaces what a user was granted.
    fn set_grants<'a>(&'a self, name: &'a Owner, grants: Vec<String>) -> StoreFuture<'a, ()>;
    /// Replaces a user's password; logins with the old one end.
    fn set_password<'a>(&'a self, name: &'a Owner, hash: Option<Secret>) -> StoreFuture<'a, ()>;
    /// Adds a key of a user.
    fn add_key(&self, new: NewKey) -> StoreFuture<'_, ()>;
    /// The keys of one user or of all, revoked ones too, those made first first.
    fn keys<'a>(&'a self, owner: Option<&'a Owner>) -> StoreFuture<'a, Vec<UserKey>>;
    /// Revokes a key. One that is revoked stays as it is.
    fn revoke_key<'a>(&'a self, id: &'a KeyId, at: Timestamp) -> StoreFuture<'a, UserKey>;
    /// Notes when keys were used last. No credential changes by this.
    fn keys_used(&self, uses: Vec<(KeyId, Timestamp)>) -> StoreFuture<'_, ()>;
    /// Adds a login of a user; beyond the limit the oldest one ends.
    fn add_login(&self, new: Login) -> StoreFuture<'_, ()>;
    /// Ends a login; one that has ended stays ended.
    fn end_login(&self, id: LoginId) -> StoreFuture<'_, ()>;
    /// Forgets logins whose time is over, and keys that were revoked long ago. Says how many.
    fn purge(&self, now: Timestamp) -> StoreFuture<'_, usize>;
    /// Everything that decides who is let in; none if nothing has changed since that generation. Blocks: for the start,
    /// and for threads that may.
    fn accounts(&self, since: Option<u64>) -> Result<Option<Accounts>, StoreError>;
    /// A channel that changes whenever [`UserStore::accounts`] may have changed, whichever process wrote.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// A user to be.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Who.
    pub name: Owner,
    /// What was granted, as it is written.
    pub grants: Vec<String>,
    /// The hash of a password, if they may log in.
    pub password_hash: Option<Secret>,
    /// When.
    pub created_at: Timestamp,
    /// Whether they may follow a user of the same name who was removed, and own what that one left.
    pub follows: bool,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Who.
    pub name: Owner,
    /// What was granted, as it is written.
    pub grants: Vec<String>,
    /// The hash of the password, if they may log in.
    pub password_hash: Option<Secret>,
    /// Since when.
    pub created_at: Timestamp,
}

/// A key to be.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// How lists show it.
    pub id: KeyId,
    /// Whose.
    pub owner: Owner,
    /// What is kept of it.
    pub digest: SecretDigest,
    /// What it is for, in its owner's words.
    pub label: String,
    /// What its requests are labelled, if not by their door.
    pub entry_label: Option<Label>,
    /// When.
    pub created_at: Timestamp,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserKey {
    /// How lists show it.
    pub id: KeyId,
    /// Whose.
    pub owner: Owner,
    /// What is kept of it.
    pub digest: SecretDigest,
    /// What it is for, in its owner's words.
    pub label: String,
    /// What its requests are labelled, if not by their door.
    pub entry_label: Option<Label>,
    /// Since when.
    pub created_at: Timestamp,
    /// When it was used last, give or take a minute.
    pub last_used: Option<Timestamp>,
    /// Since when it opens nothing any more.
    pub revoked_at: Option<Timestamp>,
}

/// A login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// How it is called among us.
    pub id: LoginId,
    /// Whose.
    pub owner: Owner,
    /// What is kept of the cookie.
    pub digest: SecretDigest,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when.
    pub expires_at: Timestamp,
}

/// Everything that decides who is let in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    /// Grows with every change.
    pub generation: u64,
    /// The users.
    pub users: Vec<User>,
    /// The keys that are not revoked.
    pub keys: Vec<UserKey>,
    /// The logins, also those whose time is over.
    pub logins: Vec<Login>,
}

/// SHA-256 of something that cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The bytes, to compare them.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Debug for SecretDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl From<NewUser> for User {
    fn from(new: NewUser) -> Self {
        let NewUser { name, grants, password_hash, created_at, follows: _ } = new;
        Self { name, grants, password_hash, created_at }
    }
}

impl From<NewKey> for UserKey {
    fn from(new: NewKey) -> Self {
        let NewKey { id, owner, digest, label, entry_label, created_at } = new;
        Self { id, owner, digest, label, entry_label, created_at, last_used: None, revoked_at: None }
    }
}
