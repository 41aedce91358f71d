//! Limits login attempts. An attempt is charged before its password is hashed: to its peer, and to the account it
//! names, whether or not that exists. A successful attempt is refunded, and so is one that was not hashed.
//!
//! Guessing at an account must not lock out its owner. So a peer that logged in to the account before is not charged
//! for it, a browser with a session of the account has its own budget, and when the account's budget is used up, a peer
//! that has not tried yet gets one attempt from a reserve.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_kernel::users::LoginPeer;
use openfang_types::limits::{
    LOGIN_KEYS, LOGIN_KNOWN_PEERS, LOGIN_RESERVE, LOGIN_RESERVE_EACH, LOGIN_WINDOW, Limits, USERS_MAX,
};
use tokio::time::Instant;

use super::peer::ClientAddress;

pub(super) struct Logins {
    state: Mutex<State>,
    /// Names are stored as keyed hashes: they may be long, and may be passwords typed into the wrong field.
    names: RandomState,
}

struct State {
    peers: Budgets<ClientAddress>,
    accounts: Budgets<u64>,
    sessions: Budgets<u64>,
    reserve: Budgets<u64>,
    reserve_each: Budgets<(u64, ClientAddress)>,
    /// The addresses from which each account was logged in to.
    known: HashMap<u64, VecDeque<ClientAddress>>,
}

/// An attempt that was charged.
pub(crate) struct Attempt {
    peer: ClientAddress,
    account: u64,
    charged: AttemptCharge,
    /// The fairness group of the attempt when many are waiting.
    pub(crate) turn: LoginPeer,
}

/// What an attempt was charged to, in addition to its peer.
enum AttemptCharge {
    /// Nothing: this peer has logged in to the account before.
    Known,
    Account,
    Reserve,
    /// Only the session that came with it, and not the peer.
    Session,
}

impl Logins {
    pub(super) fn new(limits: &Limits) -> Self {
        let state = State {
            peers: Budgets::new(limits.login_attempts_per_peer, LOGIN_WINDOW),
            accounts: Budgets::new(limits.login_attempts_per_account, LOGIN_WINDOW),
            sessions: Budgets::new(limits.login_attempts_per_peer, LOGIN_WINDOW),
            reserve: Budgets::new(LOGIN_RESERVE, LOGIN_WINDOW),
            reserve_each: Budgets::new(1, LOGIN_RESERVE_EACH),
            known: HashMap::new(),
        };
        Self { state: Mutex::new(state), names: RandomState::new() }
    }

    /// Applies other limits from now on. Existing charges stay.
    pub(super) fn follow(&self, limits: &Limits) {
        let mut state = self.lock();
        state.peers.allow(limits.login_attempts_per_peer, LOGIN_WINDOW);
        state.accounts.allow(limits.login_attempts_per_account, LOGIN_WINDOW);
        state.sessions.allow(limits.login_attempts_per_peer, LOGIN_WINDOW);
    }

    /// Charges an attempt, or returns how long to wait. `has_session` means that the request carries a session cookie
    /// of this account.
    pub(super) fn charge(&self, peer: ClientAddress, name: &str, has_session: bool) -> Result<Attempt, Duration> {
        let (network, peer) = (peer.neighbourhood(), peer.network());
        let (account, now) = (self.names.hash_one(name), Instant::now());
        let mut guard = self.lock();
        let state = &mut *guard;
        if has_session {
            let turn = LoginPeer { is_known: true, lately: state.sessions.used(&account, now), network };
            state.sessions.charge(account, now)?;
            return Ok(Attempt { peer, account, charged: AttemptCharge::Session, turn });
        }
        let lately = state.peers.used(&peer, now);
        state.peers.charge(peer, now)?;
        let is_known = state.known.get(&account).is_some_and(|known| known.contains(&peer));
        let charged = match state.accounts.charge_unless(is_known, account, now) {
            Ok(()) if is_known => AttemptCharge::Known,
            Ok(()) => AttemptCharge::Account,
            Err(_) if state.takes_reserve(account, peer, now) => AttemptCharge::Reserve,
            Err(wait) => {
                // The account's budget is used up. Waiting for it should not use up the peer's budget too.
                state.peers.give_back(&peer);
                return Err(wait);
            }
        };
        Ok(Attempt { peer, account, charged, turn: LoginPeer { is_known, lately, network } })
    }

    /// The password was right: the attempt is refunded, and its peer is known from now on.
    pub(super) fn was_right(&self, attempt: &Attempt) {
        let Attempt { peer, account, charged, .. } = attempt;
        let mut state = self.lock();
        state.give_back(peer, account, charged);
        // Only a correct password adds an account. Some accounts may have been removed since.
        if state.known.len() >= USERS_MAX && !state.known.contains_key(account) {
            state.known.clear();
        }
        let known = state.known.entry(*account).or_default();
        known.retain(|held| held != peer);
        known.push_back(*peer);
        if known.len() > LOGIN_KNOWN_PEERS {
            known.pop_front();
        }
    }

    /// The password was not checked, because too many attempts are waiting: the attempt is refunded and can be retried.
    pub(super) fn was_not_tried(&self, attempt: &Attempt) {
        let Attempt { peer, account, charged, .. } = attempt;
        let mut state = self.lock();
        state.give_back(peer, account, charged);
        if matches!(charged, AttemptCharge::Reserve) {
            state.reserve_each.give_back(&(*account, *peer));
        }
    }

    pub(super) fn forget_idle(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        state.peers.forget_idle(now);
        state.accounts.forget_idle(now);
        state.sessions.forget_idle(now);
        state.reserve.forget_idle(now);
        state.reserve_each.forget_idle(now);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn give_back(&mut self, peer: &ClientAddress, account: &u64, charged: &AttemptCharge) {
        match charged {
            AttemptCharge::Session => self.sessions.give_back(account),
            AttemptCharge::Known => self.peers.give_back(peer),
            AttemptCharge::Account => {
                self.peers.give_back(peer);
                self.accounts.give_back(account);
            }
            AttemptCharge::Reserve => {
                self.peers.give_back(peer);
                self.reserve.give_back(account);
            }
        }
    }

    fn takes_reserve(&mut self, account: u64, peer: ClientAddress, now: Instant) -> bool {
        self.reserve_each.charge((account, peer), now).is_ok() && self.reserve.charge(account, now).is_ok()
    }
}

/// A burst of attempts for each key, refilled evenly over time.
struct Budgets<K> {
    /// The time until one attempt is refilled.
    interval: Duration,
    at_once: u32,
    /// When the whole burst of a key is available again.
    whole: HashMap<K, Instant>,
}

impl<K: Eq + Hash + Clone> Budgets<K> {
    fn new(at_once: u32, window: Duration) -> Self {
        let at_once = at_once.max(1);
        Self { interval: window / at_once, at_once, whole: HashMap::new() }
    }

    fn allow(&mut self, at_once: u32, window: Duration) {
        self.at_once = at_once.max(1);
        self.interval = window / self.at_once;
    }

    /// The number of attempts not refilled yet.
    fn used(&self, key: &K, now: Instant) -> u32 {
        let left = self.whole.get(key).map(|whole| whole.saturating_duration_since(now)).unwrap_or_default();
        u32::try_from(left.as_nanos().div_ceil(self.interval.as_nanos().max(1))).unwrap_or(u32::MAX)
    }

    fn charge(&mut self, key: K, now: Instant) -> Result<(), Duration> {
        let whole = self.whole.get(&key).map_or(now, |whole| (*whole).max(now));
        let next = whole + self.interval;
        let wait = next.saturating_duration_since(now).saturating_sub(self.interval * self.at_once);
        if !wait.is_zero() {
            return Err(wait);
        }
        if self.whole.len() >= LOGIN_KEYS && !self.whole.contains_key(&key) {
            self.make_room(now);
        }
        self.whole.insert(key, next);
        Ok(())
    }

    fn charge_unless(&mut self, is_free: bool, key: K, now: Instant) -> Result<(), Duration> {
        if is_free { Ok(()) } else { self.charge(key, now) }
    }

    fn give_back(&mut self, key: &K) {
        if let Some(whole) = self.whole.get_mut(key) {
            *whole -= self.interval;
        }
    }

    fn forget_idle(&mut self, now: Instant) {
        self.whole.retain(|_, whole| *whole > now);
    }

    /// Keys with the fewest used attempts are evicted first.
    fn make_room(&mut self, now: Instant) {
        self.forget_idle(now);
        if self.whole.len() >= LOGIN_KEYS
            && let Some(key) = self.whole.iter().min_by_key(|(_, whole)| **whole).map(|(key, _)| key.clone())
        {
            self.whole.remove(&key);
        }
    }
}

#[cfg(test)]
#[path = "logins_tests.rs"]
mod tests;
