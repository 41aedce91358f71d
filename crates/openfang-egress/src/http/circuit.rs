//! A circuit breaker per origin. After several failures in a row the circuit opens for a while; then one request at a
//! time may probe the origin. Foreign URLs and operator URLs have separate circuits, so that foreign requests cannot
//! block the operator's. The map is bounded; healthy origins are evicted first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::limits::{HTTP_CIRCUIT_FAILURES, HTTP_CIRCUIT_PAUSE, HTTP_CIRCUITS};
use tokio::time::Instant;

use crate::url::{Origin, Reach};

type Key = (Reach, Origin);

/// All circuit breakers of a client.
#[derive(Debug, Clone, Default)]
pub(super) struct Circuits {
    known: Arc<Mutex<HashMap<Key, Circuit>>>,
}

#[derive(Debug, Clone, Copy)]
struct Circuit {
    failures: u32,
    /// When the origin may be probed; none while it works.
    closed_until: Option<Instant>,
    is_probed: bool,
    used: Instant,
}

/// The circuit of the origin is open.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CircuitOpen {
    pub(super) retry_after: Duration,
}

/// The result of a request for the health of its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OriginHealth {
    Good,
    Bad,
    /// The request never reached the origin.
    Unknown,
}

/// Permission for one request. Dropping it unused leaves the circuit unchanged.
#[derive(Debug)]
pub(super) struct CircuitPermit {
    circuits: Circuits,
    key: Key,
    is_probe: bool,
    is_reported: bool,
}

impl Circuits {
    /// Asks for permission to send a request to an origin.
    pub(super) fn enter(&self, reach: Reach, origin: &Origin) -> Result<CircuitPermit, CircuitOpen> {
        let now = Instant::now();
        let key = (reach, origin.clone());
        let mut known = self.lock();
        let mut is_probe = false;
        if let Some(circuit) = known.get_mut(&key) {
            circuit.used = now;
            match circuit.closed_until {
                Some(until) if until > now => return Err(CircuitOpen { retry_after: until - now }),
                Some(_) if circuit.is_probed => return Err(CircuitOpen { retry_after: HTTP_CIRCUIT_PAUSE }),
                Some(_) => {
                    circuit.is_probed = true;
                    is_probe = true;
                }
                None => {}
            }
        }
        Ok(CircuitPermit { circuits: self.clone(), key, is_probe, is_reported: false })
    }

    fn report(&self, pass: &CircuitPermit, health: OriginHealth) {
        let now = Instant::now();
        let mut known = self.lock();
        match health {
            OriginHealth::Good => {
                known.remove(&pass.key);
            }
            OriginHealth::Bad => {
                make_room(&mut known, &pass.key);
                let circuit = known.entry(pass.key.clone()).or_insert(Circuit {
                    failures: 0,
                    closed_until: None,
                    is_probed: false,
                    used: now,
                });
                circuit.failures = circuit.failures.saturating_add(1);
                circuit.used = now;
                if pass.is_probe || circuit.failures >= HTTP_CIRCUIT_FAILURES {
                    circuit.closed_until = Some(now + HTTP_CIRCUIT_PAUSE);
                }
                circuit.is_probed &= !pass.is_probe;
            }
            OriginHealth::Unknown => {
                if let Some(circuit) = known.get_mut(&pass.key) {
                    circuit.is_probed &= !pass.is_probe;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Circuit>> {
        // Every change is complete before the lock is released, so a poisoned lock is safe to use.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }
}

/// Evicts the least important origin: a working one first, then the least recently used.
fn make_room(known: &mut HashMap<Key, Circuit>, key: &Key) {
    if known.len() < HTTP_CIRCUITS || known.contains_key(key) {
        return;
    }
    let least = known.iter().min_by_key(|(_, circuit)| (circuit.closed_until.is_some(), circuit.used));
    if let Some(least) = least.map(|(key, _)| key.clone()) {
        known.remove(&least);
    }
}

impl CircuitPermit {
    /// Records the result of the request.
    pub(super) fn report(mut self, health: OriginHealth) {
        self.is_reported = true;
        self.circuits.report(&self, health);
    }
}

impl Drop for CircuitPermit {
    fn drop(&mut self) {
        if !self.is_reported {
            self.circuits.report(self, OriginHealth::Unknown);
        }
    }
}

#[cfg(test)]
#[path = "circuit_tests.rs"]
mod tests;
