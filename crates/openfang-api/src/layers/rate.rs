//! Rate limits: per peer before the credential check, per principal after it, and the cost of wrong credentials.
//! Principals are charged per call: a batch of a hundred counts as a hundred.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use openfang_types::ids::Owner;
use openfang_types::limits::Limits;
use openfang_types::principal::{AdminProof, Principal, PrincipalKind};
use tokio::time::Instant;

use super::peer::ClientAddress;
use crate::error::ApiError;

pub(super) struct Rates {
    peers: DefaultKeyedRateLimiter<ClientAddress>,
    failures: DefaultKeyedRateLimiter<ClientAddress>,
    locked_out: Arc<Mutex<HashMap<ClientAddress, Instant>>>,
    principals: DefaultKeyedRateLimiter<Owner>,
    clock: DefaultClock,
    quotas: Quotas,
}

/// The limits of the counters: peers, principals, and wrong credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quotas {
    peers: Quota,
    principals: Quota,
    failure_cost: NonZeroU32,
}

impl Quotas {
    fn of(limits: &Limits) -> Self {
        Self {
            peers: quota(limits.rate_per_peer, limits.rate_per_peer_burst),
            principals: quota(limits.rate_per_principal, limits.rate_per_principal_burst),
            failure_cost: at_least_one(limits.failed_credential_cost.min(limits.rate_per_peer_burst)),
        }
    }
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        Self::with(Quotas::of(limits), Arc::default())
    }

    /// The counters for new limits. Unchanged limits keep their counts, and a locked-out peer stays locked out.
    pub(super) fn following(before: &Arc<Self>, limits: &Limits) -> Arc<Self> {
        let quotas = Quotas::of(limits);
        if before.quotas == quotas {
            return Arc::clone(before);
        }
        Arc::new(Self::with(quotas, Arc::clone(&before.locked_out)))
    }

    fn with(quotas: Quotas, locked_out: Arc<Mutex<HashMap<ClientAddress, Instant>>>) -> Self {
        Self {
            peers: RateLimiter::keyed(quotas.peers),
            failures: RateLimiter::keyed(quotas.peers),
            locked_out,
            principals: RateLimiter::keyed(quotas.principals),
            clock: DefaultClock::default(),
            quotas,
        }
    }

    /// Charges one request to this peer. Loopback is exempt: there only wrong credentials count.
    pub(super) fn admit_peer(&self, peer: ClientAddress) -> Result<(), ApiError> {
        if peer.is_loopback() {
            return Ok(());
        }
        self.peers.check_key(&peer.network()).map_err(|until| self.too_many(&until))
    }

    /// Charges one request to this principal. `local` and the daemon token are exempt.
    pub(super) fn admit_principal(&self, principal: &Principal) -> Result<(), ApiError> {
        if !is_counted(principal) {
            return Ok(());
        }
        self.principals.check_key(principal.owner()).map_err(|until| self.too_many(&until))
    }

    /// Charges further calls to this principal, in a request that was charged as one.
    pub(super) fn admit_calls(&self, principal: &Principal, more: u32) -> Result<(), ApiError> {
        let Some(more) = NonZeroU32::new(more).filter(|_| is_counted(principal)) else { return Ok(()) };
        match self.principals.check_key_n(principal.owner(), more) {
            Ok(admitted) => admitted.map_err(|until| self.too_many(&until)),
            Err(_beyond_the_burst) => Err(ApiError::too_many_calls()),
        }
    }

    /// Charges a wrong credential. A remote peer with too many is locked out for a moment, even with a right one:
    /// otherwise the answers would still tell a fast guesser which one is right. On loopback only wrong credentials are
    /// refused, or any process of the machine could lock out its owner; a key is too long to be guessed there.
    pub(super) fn charge_failure(&self, peer: ClientAddress) -> Result<(), ApiError> {
        let peer = peer.network();
        self.not_locked_out(peer)?;
        match self.failures.check_key_n(&peer, self.quotas.failure_cost) {
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

    /// Whether this peer is locked out.
    pub(super) fn not_locked_out(&self, peer: ClientAddress) -> Result<(), ApiError> {
        let peer = peer.network();
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

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<ClientAddress, Instant>> {
        self.locked_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_many(&self, until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>) -> ApiError {
        ApiError::too_many(until.wait_time_from(self.clock.now()))
    }
}

/// Whether the calls of a principal are counted at all.
fn is_counted(principal: &Principal) -> bool {
    match principal.standing() {
        PrincipalKind::Local | PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => false,
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::User(_) => true,
    }
}

fn quota(per_second: u32, burst: u32) -> Quota {
    let period = Duration::from_secs(1) / at_least_one(per_second).get();
    let quota = Quota::with_period(period).unwrap_or_else(|| Quota::per_second(NonZeroU32::MAX));
    quota.allow_burst(at_least_one(burst))
}

/// Config refuses zero; this proves it to the type.
fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}
