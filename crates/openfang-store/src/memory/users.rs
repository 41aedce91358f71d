//! Users in maps behind one lock, so that related values change together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId, Owner};
use openfang_types::limits::{KEYS_PER_USER, LOGINS_PER_USER, REVOKED_KEY_KEPT, USERS_MAX};
use openfang_types::secret::Secret;
use tokio::sync::watch;

use crate::{Accounts, Login, NewKey, NewUser, StoreError, StoreFuture, User, UserKey, UserStore};

#[derive(Default)]
pub struct MemoryUsers {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    users: BTreeMap<Owner, User>,
    former: BTreeSet<Owner>,
    /// In the order of creation.
    keys: Vec<UserKey>,
    logins: Vec<Login>,
}

impl MemoryUsers {
    fn read<T: Send + 'static>(&self, work: impl FnOnce(&State) -> Result<T, StoreError>) -> StoreFuture<'_, T> {
        let outcome = work(&self.lock());
        Box::pin(async move { outcome })
    }

    fn change<T: Send + 'static>(&self, work: impl FnOnce(&mut State) -> Result<T, StoreError>) -> StoreFuture<'_, T> {
        let mut state = self.lock();
        let outcome = work(&mut state);
        if outcome.is_ok() {
            // Under the lock, because a generation belongs to one state.
            self.changes.send_modify(|generation| *generation += 1);
        }
        drop(state);
        Box::pin(async move { outcome })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn user(&mut self, name: &Owner) -> Result<&mut User, StoreError> {
        self.users.get_mut(name).ok_or(StoreError::NotFound)
    }
}

impl UserStore for MemoryUsers {
    fn add_user(&self, new: NewUser) -> StoreFuture<'_, ()> {
        self.change(|state| {
            let is_former = state.former.contains(&new.name);
            if state.users.contains_key(&new.name) || (is_former && !new.follows) {
                return Err(StoreError::Conflict);
            }
            if state.users.len() >= USERS_MAX {
                return Err(StoreError::TooMany { what: "users", limit: USERS_MAX });
            }
            state.former.remove(&new.name);
            state.users.insert(new.name.clone(), new.into());
            Ok(())
        })
    }

    fn user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, User> {
        self.read(|state| state.users.get(name).cloned().ok_or(StoreError::NotFound))
    }

    fn users(&self) -> StoreFuture<'_, Vec<User>> {
        self.read(|state| Ok(state.users.values().cloned().collect()))
    }

    fn was_user<'a>(&'a self, name: &'a Owner) -> StoreFuture<'a, bool> {
        self.read(|state| Ok(state.former.contains(name)))
    }

    fn remove_user<'a>(&'a self, name: &'a Owner, at: Timestamp) -> StoreFuture<'a, ()> {
        self.change(|state| {
            state.users.remove(name).ok_or(StoreError::NotFound)?;
            state.former.insert(name.clone());
            state.logins.retain(|login| login.owner != *name);
            for key in state.keys.iter_mut().filter(|key| key.owner == *name) {
                key.revoked_at.get_or_insert(at);
            }
            Ok(())
        })
    }

    fn set_grants<'a>(&'a self, name: &'a Owner, grants: Vec<String>) -> StoreFuture<'a, ()> {
        self.change(|state| {
            state.user(name)?.grants = grants;
            Ok(())
        })
    }

    fn set_password<'a>(&'a self, name: &'a Owner, hash: Option<Secret>) -> StoreFuture<'a, ()> {
        self.change(|state| {
            state.user(name)?.password_hash = hash;
            state.logins.retain(|login| login.owner != *name);
            Ok(())
        })
    }

    fn add_key(&self, new: NewKey) -> StoreFuture<'_, ()> {
        self.change(|state| {
            state.user(&new.owner)?;
            let is_used = |key: &UserKey| key.id == new.id || key.digest == new.digest;
            if state.keys.iter().any(is_used) {
                return Err(StoreError::Conflict);
            }
            let is_live = |key: &&UserKey| key.owner == new.owner && key.revoked_at.is_none();
            if state.keys.iter().filter(is_live).count() >= KEYS_PER_USER {
                return Err(StoreError::TooMany { what: "keys of this user", limit: KEYS_PER_USER });
            }
            state.keys.push(new.into());
            Ok(())
        })
    }

    fn keys<'a>(&'a self, owner: Option<&'a Owner>) -> StoreFuture<'a, Vec<UserKey>> {
        self.read(|state| {
            let wanted = |key: &&UserKey| owner.is_none_or(|owner| key.owner == *owner);
            let mut keys: Vec<UserKey> = state.keys.iter().filter(wanted).cloned().collect();
            keys.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            Ok(keys)
        })
    }

    fn revoke_key<'a>(&'a self, id: &'a KeyId, at: Timestamp) -> StoreFuture<'a, UserKey> {
        self.change(|state| {
            let key = state.keys.iter_mut().find(|key| key.id == *id).ok_or(StoreError::NotFound)?;
            key.revoked_at.get_or_insert(at);
            Ok(key.clone())
        })
    }

    fn keys_used(&self, uses: Vec<(KeyId, Timestamp)>) -> StoreFuture<'_, ()> {
        let mut state = self.lock();
        for (id, at) in uses {
            if let Some(key) = state.keys.iter_mut().find(|key| key.id == id) {
                key.last_used = key.last_used.max(Some(at));
            }
        }
        drop(state);
        Box::pin(std::future::ready(Ok(())))
    }

    fn add_login(&self, new: Login) -> StoreFuture<'_, ()> {
        self.change(|state| {
            state.user(&new.owner)?;
            let mut own: Vec<(Timestamp, LoginId)> = state
                .logins
                .iter()
                .filter(|login| login.owner == new.owner)
                .map(|login| (login.created_at, login.id))
                .collect();
            own.sort();
            let beyond = (own.len() + 1).saturating_sub(LOGINS_PER_USER);
            let ended: Vec<LoginId> = own.into_iter().take(beyond).map(|(_, id)| id).collect();
            state.logins.retain(|login| !ended.contains(&login.id));
            state.logins.push(new);
            Ok(())
        })
    }

    fn end_login(&self, id: LoginId) -> StoreFuture<'_, ()> {
        self.change(|state| {
            state.logins.retain(|login| login.id != id);
            Ok(())
        })
    }

    fn purge(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        self.change(|state| {
            let before = state.logins.len() + state.keys.len();
            state.logins.retain(|login| login.expires_at > now);
            let is_kept = |at: Timestamp| at.saturating_add(REVOKED_KEY_KEPT).is_ok_and(|until| until > now);
            state.keys.retain(|key| key.revoked_at.is_none_or(is_kept));
            Ok(before - state.logins.len() - state.keys.len())
        })
    }

    fn accounts(&self, since: Option<u64>) -> Result<Option<Accounts>, StoreError> {
        let state = self.lock();
        let generation = *self.changes.borrow();
        if since == Some(generation) {
            return Ok(None);
        }
        let live = |key: &&UserKey| key.revoked_at.is_none();
        Ok(Some(Accounts {
            generation,
            users: state.users.values().cloned().collect(),
            keys: state.keys.iter().filter(live).cloned().collect(),
            logins: state.logins.clone(),
        }))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
