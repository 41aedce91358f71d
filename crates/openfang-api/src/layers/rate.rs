//! How often: per peer before the credential is looked at, per principal after it, and what a wrong guess costs.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use openfang_types::ids::Owner;
use openfang_types::limits::Limits;
use openfang_types::principal::{AdminProof, Principal, Standing};
use tokio::time::Instant;

use crate::error::ApiError;

pub(super) struct Rates {
    peers: DefaultKeyedRateLimiter<IpAddr>,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    failure_cost: NonZeroU32,
    locked_out: Mutex<HashMap<IpAddr, Instant>>,
    principals: DefaultKeyedRateLimiter<Owner>,
    clock: DefaultClock,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        let peer_quota = quota(limits.rate_per_peer, limits.rate_per_peer_burst);
        Self {
            peers: RateLimiter::keyed(peer_quota),
            failures: RateLimiter::keyed(peer_quota),
            failure_cost: at_least_one(limits.failed_credential_cost.min(limits.rate_per_peer_burst)),
            locked_out: Mutex::default(),
            principals: RateLimiter::keyed(quota(limits.rate_per_principal, limits.rate_per_principal_burst)),
            clock: DefaultClock::default(),
        }
    }

    /// One request of this peer. Loopback is exempt: there, guesses are what is counted.
    pub(super) fn admit_peer(&self, peer: IpAddr) -> Result<(), ApiError> {
        if peer.is_loopback() {
            return Ok(());
        }
        self.peers.check_key(&network_of(peer)).map_err(|until| self.too_many(&until))
    }

    /// One request of this principal. `local` and the daemon token are exempt.
    pub(super) fn admit_principal(&self, principal: &Principal) -> Result<(), ApiError> {
        match principal.standing() {
            Standing::Local | Standing::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => Ok(()),
            Standing::Admin(AdminProof::ApiKey) | Standing::User(_) => {
                self.principals.check_key(principal.owner()).map_err(|until| self.too_many(&until))
            }
        }
    }

    /// A wrong guess. Who makes too many from elsewhere is locked out for a moment, right guesses included: otherwise
    /// the answer to a fast guesser would still tell wrong from right. On loopback only wrong guesses are refused, or
    /// any process of the machine could lock its owner out; a key is too long to be guessed there.
    pub(super) fn charge_failure(&self, peer: IpAddr) -> Result<(), ApiError> {
        let peer = network_of(peer);
        self.not_locked_out(peer)?;
        match self.failures.check_key_n(&peer, self.failure_cost) {
            Ok(Ok(())) | Err(_) => Ok(()),
            Ok(Err(until)) => {
                let wait = until.wait_time_from(self.clock.now());
                if !peer.is_loopback() {
                    self.locked().insert(peer, Instant::now() + wait);
                }
                Err(ApiError::too_many(wait))
            }
        }
    }

    /// Whether this peer has guessed too often just now.
    pub(super) fn not_locked_out(&self, peer: IpAddr) -> Result<(), ApiError> {
        let peer = network_of(peer);
        let mut locked = self.locked();
        let Some(until) = locked.get(&peer) else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            locked.remove(&peer);
            return Ok(());
        }
        Err(ApiError::too_many(left))
    }

    pub(super) fn forget_idle(&self) {
        self.peers.retain_recent();
        self.failures.retain_recent();
        self.principals.retain_recent();
        let now = Instant::now();
        self.locked().retain(|_, until| *until > now);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.locked_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_many(&self, until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>) -> ApiError {
        ApiError::too_many(until.wait_time_from(self.clock.now()))
    }
}

/// One subscriber has a whole IPv6 network of 64 bits; it is one peer.
pub(crate) fn network_of(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(six) if six.is_loopback() => peer,
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

fn quota(per_second: u32, burst: u32) -> Quota {
    let period = Duration::from_secs(1) / at_least_one(per_second).get();
    let quota = Quota::with_period(period).unwrap_or_else(|| Quota::per_second(NonZeroU32::MAX));
    quota.allow_burst(at_least_one(burst))
}

/// Config refuses zero; this says so to the type.
fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}
