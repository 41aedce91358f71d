//! How often somebody may try to log in. An attempt is charged before its password is hashed: to its peer, and to the
//! account that it names, whether or not there is one. What was right is given back, and so is what was not hashed.
//!
//! Guessing at an account must not lock its owner out. So a peer that logged in to it before is not charged for the
//! account, a browser that holds a session of the account has a budget of its own, and when the account's budget is used up,
//! a peer that has not tried yet gets one attempt of a reserve.

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
    /// Names are kept as numbers that nobody can choose: they may be long, and may be passwords in the wrong field.
    names: RandomState,
}

struct State {
    peers: Budgets<ClientAddress>,
    accounts: Budgets<u64>,
    sessions: Budgets<u64>,
    reserve: Budgets<u64>,
    reserve_each: Budgets<(u64, ClientAddress)>,
    /// From where accounts were logged in to.
    known: HashMap<u64, VecDeque<ClientAddress>>,
}

/// An attempt that was charged.
pub(crate) struct Attempt {
    peer: ClientAddress,
    account: u64,
    charged: Charged,
    /// Whose turn it is when many try.
    pub(crate) turn: LoginPeer,
}

/// What an attempt was charged to, beside its peer.
enum Charged {
    /// Nothing: the account was logged in to from there before.
    Known,
    Account,
    Reserve,
    /// Only this, and not the peer either: the session that came with it.
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

    /// Goes by other limits from now on. What was charged stays charged.
    pub(super) fn follow(&self, limits: &Limits) {
        let mut state = self.lock();
        state.peers.allow(limits.login_attempts_per_peer, LOGIN_WINDOW);
        state.accounts.allow(limits.login_attempts_per_account, LOGIN_WINDOW);
        state.sessions.allow(limits.login_attempts_per_peer, LOGIN_WINDOW);
    }

    /// Charges an attempt; if there were too many, says how long to wait. `has_session`: the request carries the cookie of
    /// a login of this very account.
    pub(super) fn charge(&self, peer: ClientAddress, name: &str, has_session: bool) -> Result<Attempt, Duration> {
        let (network, peer) = (peer.neighbourhood(), peer.network());
        let (account, now) = (self.names.hash_one(name), Instant::now());
        let mut guard = self.lock();
        let state = &mut *guard;
        if has_session {
            let turn = LoginPeer { is_known: true, lately: state.sessions.used(&account, now), network };
            state.sessions.charge(account, now)?;
            return Ok(Attempt { peer, account, charged: Charged::Session, turn });
        }
        let lately = state.peers.used(&peer, now);
        state.peers.charge(peer, now)?;
        let is_known = state.known.get(&account).is_some_and(|known| known.contains(&peer));
        let charged = match state.accounts.charge_unless(is_known, account, now) {
            Ok(()) if is_known => Charged::Known,
            Ok(()) => Charged::Account,
            Err(_) if state.takes_reserve(account, peer, now) => Charged::Reserve,
            Err(wait) => {
                // The account is what is used up, and whoever waits for it should not use up the peer too.
                state.peers.give_back(&peer);
                return Err(wait);
            }
        };
        Ok(Attempt { peer, account, charged, turn: LoginPeer { is_known, lately, network } })
    }

    /// The password was right: the attempt costs nothing, and its peer is known from now on.
    pub(super) fn was_right(&self, attempt: &Attempt) {
        let Attempt { peer, account, charged, .. } = attempt;
        let mut state = self.lock();
        state.give_back(peer, account, charged);
        // Only who knows a password adds an account; some may have been removed since.
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

    /// Nobody looked at the password, because too many wait: the attempt costs nothing, and can be made again.
    pub(super) fn was_not_tried(&self, attempt: &Attempt) {
        let Attempt { peer, account, charged, .. } = attempt;
        let mut state = self.lock();
        state.give_back(peer, account, charged);
        if matches!(charged, Charged::Reserve) {
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
    fn give_back(&mut self, peer: &ClientAddress, account: &u64, charged: &Charged) {
        match charged {
            Charged::Session => self.sessions.give_back(account),
            Charged::Known => self.peers.give_back(peer),
            Charged::Account => {
                self.peers.give_back(peer);
                self.accounts.give_back(account);
            }
            Charged::Reserve => {
                self.peers.give_back(peer);
                self.reserve.give_back(account);
            }
        }
    }

    fn takes_reserve(&mut self, account: u64, peer: ClientAddress, now: Instant) -> bool {
        self.reserve_each.charge((account, peer), now).is_ok() && self.reserve.charge(account, now).is_ok()
    }
}

/// So many attempts at once for each key, which come back evenly over a time.
struct Budgets<K> {
    /// After how long one attempt comes back.
    interval: Duration,
    at_once: u32,
    /// When all attempts of a key have come back.
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

    /// How many attempts have not come back yet.
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

    /// Those that have used least are forgotten first.
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
