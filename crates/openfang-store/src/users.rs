//! The contract of users: their grants, keys, passwords and logins. Of keys and login cookies only a digest is stored,
//! of passwords a slow hash.
//!
//! The credential check caches everything ([`UserStore::accounts`]) and reads it again when [`UserStore::changes`]
//! reports a change by any process.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId, Owner, ProfileName};
use openfang_types::secret::{REDACTED, Secret};
use openfang_types::taint::Label;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::{StoreError, StoreFuture};

/// Users, their keys and their logins. A write returns when it is durable.
pub trait UserStore: Send + Sync {
    /// Adds a user. A conflict if the name exists, or belonged to a removed user and the new user must not follow it.
    fn add_user(&self, new: NewUser) -> StoreFuture<'_, ()>;
    fn user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, User>;
    /// All users, by name.
    fn users(&self) -> StoreFuture<'_, Vec<User>>;
    /// Whether a user of that name was removed.
    fn was_user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, bool>;
    /// Removes a user. Its keys are revoked and its logins end in the same transaction. Its name stays reserved.
    fn remove_user<'a>(&'a self, name: &'a Owner, at: Timestamp) -> StoreFuture<'a, ()>;
    /// Replaces the grants of a user.
    fn set_grants<'a>(&'a self, name: &'a Owner, grants: Vec<String>) -> StoreFuture<'a, ()>;
    /// Replaces a user's password. Logins with the old one end.
    fn set_password<'a>(&'a self, name: &'a Owner, hash: Option<Secret>) -> StoreFuture<'a, ()>;
    /// Adds a key of a user.
    fn add_key(&self, new: NewKey) -> StoreFuture<'_, ()>;
    /// The keys of one user or of all, including revoked ones, oldest first.
    fn keys<'a>(&'a self, owner: Option<&'a Owner>) -> StoreFuture<'a, Vec<UserKey>>;
    /// Revokes a key. Revoking it again changes nothing.
    fn revoke_key<'a>(&'a self, id: &'a KeyId, at: Timestamp) -> StoreFuture<'a, UserKey>;
    /// Records when keys were last used. No credential changes by this.
    fn keys_used(&self, uses: Vec<(KeyId, Timestamp)>) -> StoreFuture<'_, ()>;
    /// Adds a login of a user. Beyond the limit the oldest login ends.
    fn add_login(&self, new: Login) -> StoreFuture<'_, ()>;
    /// Ends a login. Ending it again changes nothing.
    fn end_login(&self, id: LoginId) -> StoreFuture<'_, ()>;
    /// Deletes expired logins and keys that were revoked long ago. Returns how many.
    fn purge(&self, now: Timestamp) -> StoreFuture<'_, usize>;
    /// All credentials; none if nothing has changed since that generation. The call blocks, so use it at start or on a
    /// thread that may block.
    fn accounts(&self, since: Option<u64>) -> Result<Option<Accounts>, StoreError>;
    /// A channel that changes whenever [`UserStore::accounts`] may have changed, by any process.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// A user to be.
#[derive(Debug, Clone)]
pub struct NewUser {
    pub name: Owner,
    /// The grants in their text form.
    pub grants: Vec<String>,
    /// The password hash, if the user may log in.
    pub password_hash: Option<Secret>,
    pub created_at: Timestamp,
    /// Whether the user may take the name and the data of a removed user.
    pub follows: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: Owner,
    /// The grants in their text form.
    pub grants: Vec<String>,
    /// The password hash, if the user may log in.
    pub password_hash: Option<Secret>,
    pub created_at: Timestamp,
}

/// A key to be.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The id in lists.
    pub id: KeyId,
    pub owner: Owner,
    /// The digest of the secret.
    pub digest: SecretDigest,
    /// Its purpose, in its owner's words.
    pub label: String,
    /// The label of its requests; none means the label of the endpoint.
    pub entry_label: Option<Label>,
    /// The profile that narrows its requests.
    pub profile: Option<ProfileName>,
    pub created_at: Timestamp,
    /// Until when it opens anything; none means for ever.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserKey {
    /// The id in lists.
    pub id: KeyId,
    pub owner: Owner,
    /// The digest of the secret.
    pub digest: SecretDigest,
    /// Its purpose, in its owner's words.
    pub label: String,
    /// The label of its requests; none means the label of the endpoint.
    pub entry_label: Option<Label>,
    /// The profile that narrows its requests.
    pub profile: Option<ProfileName>,
    pub created_at: Timestamp,
    /// Until when it opens anything; none means for ever.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub id: LoginId,
    pub owner: Owner,
    /// The digest of the cookie.
    pub digest: SecretDigest,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Everything that authentication needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    /// Grows with every change.
    pub generation: u64,
    pub users: Vec<User>,
    /// The keys that are not revoked.
    pub keys: Vec<UserKey>,
    /// All logins, including expired ones.
    pub logins: Vec<Login>,
}

/// SHA-256 of a secret that cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The bytes, for comparison.
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
        let NewKey { id, owner, digest, label, entry_label, profile, created_at, expires_at } = new;
        let (last_used, revoked_at) = (None, None);
        Self { id, owner, digest, label, entry_label, profile, created_at, expires_at, last_used, revoked_at }
    }
}
