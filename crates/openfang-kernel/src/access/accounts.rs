//! The users as requests need them: from the digest of a key or cookie to a principal, without asking the store.
//!
//! [`Accounts::refresh`] takes over what the store says now. A credential that is gone, or whose user was granted
//! something else, fires its token, and with it ends what is open on it.

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use openfang_store::{Accounts as Stored, SecretDigest, StoreError, UserStore};
use openfang_types::clock::Clock;
use openfang_types::ids::{KeyId, Owner};
use openfang_types::limits::{ACCOUNTS_ROUND, KEY_USE_ROUND};
use openfang_types::principal::{Credential, Grants, Principal, PrincipalKind};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::settings::home::record::HomeMemory;

/// The users, and what proves to be them.
pub(crate) struct Accounts {
    store: Arc<dyn UserStore>,
    clock: Arc<dyn Clock>,
    known: RwLock<AccountTable>,
    /// Stays when the last user is removed: that does not let everybody in.
    has_seen_users: AtomicBool,
    closing_for_strangers: CancellationToken,
    /// Changes when anything about users does.
    changed: watch::Sender<()>,
    memory: Option<Arc<HomeMemory>>,
}

#[derive(Default)]
struct AccountTable {
    generation: Option<u64>,
    grants: HashMap<Owner, Grants>,
    keys: HashMap<SecretDigest, Arc<LiveCredential>>,
    logins: HashMap<SecretDigest, Arc<LiveCredential>>,
    tokens: HashMap<Credential, CancellationToken>,
}

struct LiveCredential {
    principal: Arc<Principal>,
    expires_at: Option<Timestamp>,
    revoked: CancellationToken,
    /// When it was used last, in milliseconds; zero if that has been noted.
    used: AtomicI64,
}

impl Accounts {
    /// Reads what there is. Blocks.
    pub(crate) fn open(
        store: Arc<dyn UserStore>,
        clock: Arc<dyn Clock>,
        memory: Option<Arc<HomeMemory>>,
    ) -> Result<Self, StoreError> {
        let accounts = Self {
            store,
            clock,
            known: RwLock::default(),
            has_seen_users: AtomicBool::new(false),
            closing_for_strangers: CancellationToken::new(),
            changed: watch::Sender::new(()),
            memory,
        };
        let remembered = accounts.memory.as_ref().map_or(0, |memory| memory.record().accounts);
        accounts.refresh()?;
        accounts.warn_of_older_users(remembered);
        Ok(accounts)
    }

    /// A backup, or a log whose end was lost, brings back what was revoked since.
    fn warn_of_older_users(&self, remembered: u64) {
        let found = self.read(|known| known.generation).unwrap_or(0);
        let Some(memory) = self.memory.as_ref().filter(|_| found < remembered) else { return };
        tracing::warn!(
            "the users in the database are older than the last known state of this home: keys revoked since then are valid again; check `openfang user list` and `openfang key list`"
        );
        if let Err(error) = memory.update(|record| record.accounts = found) {
            tracing::warn!(%error, "this warning is repeated at the next start");
        }
    }

    /// Takes over what the store says now. Blocks.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        let since = self.read(|known| known.generation);
        match self.store.accounts(since)? {
            Some(stored) => self.take_over(stored),
            None => self.remember(),
        }
        Ok(())
    }

    /// Whose key this is.
    pub(crate) fn by_key(&self, digest: &SecretDigest) -> Option<Arc<Principal>> {
        let held = self.read(|known| known.keys.get(digest).cloned())?;
        let now = self.clock.now();
        if held.expires_at.is_some_and(|until| until <= now) {
            return None;
        }
        held.used.store(now.as_millisecond(), Ordering::Relaxed);
        Some(Arc::clone(&held.principal))
    }

    /// Whose login this is.
    pub(crate) fn by_login(&self, digest: &SecretDigest) -> Option<Arc<Principal>> {
        let held = self.read(|known| known.logins.get(digest).cloned())?;
        let is_over = held.expires_at.is_some_and(|until| until <= self.clock.now());
        (!is_over).then(|| Arc::clone(&held.principal))
    }

    /// What a user is granted.
    pub(crate) fn grants(&self, name: &Owner) -> Option<Grants> {
        self.read(|known| known.grants.get(name).cloned())
    }

    /// Whether there is any user.
    pub(crate) fn has_users(&self) -> bool {
        self.read(|known| !known.grants.is_empty())
    }

    /// Whether there is any user, or was one since the start.
    pub(crate) fn has_seen_users(&self) -> bool {
        self.has_seen_users.load(Ordering::Acquire)
    }

    /// Fires when the credential is worth nothing any more; it may have done so already.
    pub(crate) fn revoked(&self, credential: &Credential) -> CancellationToken {
        self.read(|known| known.tokens.get(credential).cloned()).unwrap_or_else(|| {
            let fired = CancellationToken::new();
            fired.cancel();
            fired
        })
    }

    /// Returns when work that this principal began must end: its key was revoked, its user is gone, or something that was
    /// granted then is not any more. A login that ends does not end what was begun with it.
    pub(crate) async fn work_must_end(&self, principal: &Principal) {
        let mut changed = self.changed.subscribe();
        let PrincipalKind::User(grants) = principal.standing() else { return pending().await };
        // A run that is resumed for a user who was removed has no grants to lose.
        if principal.credential().is_none() && self.grants(principal.owner()).is_none() {
            return pending().await;
        }
        while self.may_go_on(principal, grants) {
            if changed.changed().await.is_err() {
                return pending().await;
            }
        }
    }

    fn may_go_on(&self, principal: &Principal, began_with: &Grants) -> bool {
        self.read(|known| {
            let is_key_there = match principal.credential() {
                Some(key @ Credential::Key(_)) => known.tokens.contains_key(key),
                Some(Credential::Login(_)) | None => true,
            };
            is_key_there && known.grants.get(principal.owner()).is_some_and(|now| now.cover(began_with))
        })
    }

    /// Fires when the first user is there: from then on nobody comes in without a credential.
    pub(crate) fn closing_for_strangers(&self) -> CancellationToken {
        self.closing_for_strangers.clone()
    }

    /// Ends what is open on logins and keys whose time is over.
    fn end_old_credentials(&self) {
        let now = self.clock.now();
        self.read(|known| {
            let is_over = |held: &&Arc<LiveCredential>| held.expires_at.is_some_and(|until| until <= now);
            known
                .logins
                .values()
                .chain(known.keys.values())
                .filter(is_over)
                .for_each(|held| held.revoked.cancel());
        });
    }

    /// The keys that were used since this was last asked.
    fn take_uses(&self) -> Vec<(KeyId, Timestamp)> {
        let used = |held: &Arc<LiveCredential>| {
            let at = Timestamp::from_millisecond(held.used.swap(0, Ordering::Relaxed)).ok()?;
            match held.principal.credential()? {
                Credential::Key(id) if at > Timestamp::UNIX_EPOCH => Some((id.clone(), at)),
                Credential::Key(_) | Credential::Login(_) => None,
            }
        };
        self.read(|known| known.keys.values().filter_map(used).collect())
    }

    fn take_over(&self, stored: Stored) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Another refresh may have read later and been faster.
        if known.generation.is_some_and(|held| held >= stored.generation) {
            drop(known);
            self.remember();
            return;
        }
        let next = AccountTable::of(stored, &known);
        let gone = known.keys.values().chain(known.logins.values()).filter(|held| !next.holds(held));
        gone.for_each(|held| held.revoked.cancel());
        let has_users = !next.grants.is_empty();
        *known = next;
        drop(known);
        self.changed.send_replace(());
        self.remember();
        if has_users {
            self.has_seen_users.store(true, Ordering::Release);
            self.closing_for_strangers.cancel();
        }
    }

    /// Makes sure that the home remembers what is known. Another refresh may have taken it over and still be writing, and
    /// whoever made the change is answered after that.
    fn remember(&self) {
        if let Some(memory) = &self.memory {
            let (has_users, generation) = self.read(|known| (!known.grants.is_empty(), known.generation.unwrap_or(0)));
            memory.saw_accounts(generation, has_users);
        }
    }

    fn read<T>(&self, look: impl FnOnce(&AccountTable) -> T) -> T {
        look(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AccountTable {
    /// What is stored, with the tokens of what was there before and has not changed.
    fn of(stored: Stored, before: &Self) -> Self {
        let mut next = Self { generation: Some(stored.generation), ..Self::default() };
        for user in stored.users {
            let grants = Grants::parse(user.grants.iter().map(String::as_str)).unwrap_or_else(|error| {
                tracing::warn!(user = %user.name, %error, "a user has no grants until this is corrected");
                Grants::default()
            });
            next.grants.insert(user.name, grants);
        }
        for key in stored.keys {
            let Some(grants) = next.grants.get(&key.owner) else { continue };
            let principal = Principal::user(key.owner, grants.clone())
                .shown_by(Credential::Key(key.id))
                .bringing(key.entry_label)
                .with_key_profile(key.profile);
            let held = LiveCredential::new(principal, key.expires_at, before.keys.get(&key.digest));
            next.keys.insert(key.digest, held);
        }
        for login in stored.logins {
            let Some(grants) = next.grants.get(&login.owner) else { continue };
            let principal = Principal::user(login.owner, grants.clone()).shown_by(Credential::Login(login.id));
            let held = LiveCredential::new(principal, Some(login.expires_at), before.logins.get(&login.digest));
            next.logins.insert(login.digest, held);
        }
        let all = next.keys.values().chain(next.logins.values());
        let token = |held: &Arc<LiveCredential>| Some((held.principal.credential()?.clone(), held.revoked.clone()));
        next.tokens = all.filter_map(token).collect();
        next
    }

    /// Whether this very credential is still there, as it was.
    fn holds(&self, held: &LiveCredential) -> bool {
        let token = held.principal.credential().and_then(|credential| self.tokens.get(credential));
        token.is_some_and(|token| *token == held.revoked)
    }
}

impl LiveCredential {
    fn new(principal: Principal, expires_at: Option<Timestamp>, before: Option<&Arc<Self>>) -> Arc<Self> {
        match before {
            Some(before) if *before.principal == principal => Arc::clone(before),
            Some(_) | None => Arc::new(Self {
                principal: Arc::new(principal),
                expires_at,
                revoked: CancellationToken::new(),
                used: AtomicI64::new(0),
            }),
        }
    }
}

impl Access {
    /// Takes over what other processes do to users, and ends logins in time.
    pub(crate) async fn heed_account_changes(self) {
        let mut changes = self.inner.users.changes();
        let mut round = tokio::time::interval(ACCOUNTS_ROUND);
        let (mut is_stale, mut noted) = (true, Instant::now());
        loop {
            let is_due = tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => true,
                    Err(_closed) => return,
                },
                _ = round.tick() => is_stale,
            };
            if is_due {
                is_stale = self.refresh_accounts().await.is_err();
            }
            self.inner.credentials.accounts().end_old_credentials();
            if noted.elapsed() >= KEY_USE_ROUND {
                noted = Instant::now();
                self.note_key_uses().await;
            }
        }
    }

    /// Takes over what the store says about users now.
    pub(crate) async fn refresh_accounts(&self) -> Result<(), StoreError> {
        // What is known of keys that are revoked would be forgotten with them.
        self.note_key_uses().await;
        let accounts = Arc::clone(self.inner.credentials.accounts());
        let refreshed = self.inner.life.tracker().spawn_blocking(move || accounts.refresh()).await;
        let outcome = refreshed.unwrap_or_else(|panic| Err(StoreError::Unavailable { why: panic.to_string() }));
        outcome.inspect_err(|error| tracing::warn!(%error, "changes of users could not be read"))
    }

    /// Writes down when keys were used.
    pub(crate) async fn note_key_uses(&self) {
        let uses = self.inner.credentials.accounts().take_uses();
        if uses.is_empty() {
            return;
        }
        if let Err(error) = self.inner.users.keys_used(uses).await {
            tracing::warn!(%error, "when keys were used was not written down");
        }
    }
}

#[cfg(test)]
#[path = "accounts_tests.rs"]
mod tests;
