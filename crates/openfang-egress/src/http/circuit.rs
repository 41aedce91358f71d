//! A circuit per origin: after some failures in a row the origin is left alone for a while, then one request at a time
//! may find out whether it is back. Strangers' requests and the operator's have circuits of their own, so that what a
//! stranger asks for cannot cut the operator off. The map is bounded; healthy origins are forgotten first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::limits::{HTTP_CIRCUIT_FAILURES, HTTP_CIRCUIT_PAUSE, HTTP_CIRCUITS};
use tokio::time::Instant;

use crate::url::{Origin, Reach};

type Key = (Reach, Origin);

/// All circuits of a door.
#[derive(Debug, Clone, Default)]
pub(super) struct Circuits {
    known: Arc<Mutex<HashMap<Key, Circuit>>>,
}

#[derive(Debug, Clone, Copy)]
struct Circuit {
    failures: u32,
    /// When the origin may be tried again; none while it works.
    closed_until: Option<Instant>,
    is_probed: bool,
    used: Instant,
}

/// The origin is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftAlone {
    pub(super) retry_after: Duration,
}

/// How a request fared, as far as its origin is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    Good,
    Bad,
    /// It never got there.
    Unknown,
}

/// The right to try. Dropped without a word, it leaves the circuit as it was.
#[derive(Debug)]
pub(super) struct Pass {
    circuits: Circuits,
    key: Key,
    is_probe: bool,
    is_settled: bool,
}

impl Circuits {
    /// Asks whether an origin may be tried.
    pub(super) fn enter(&self, reach: Reach, origin: &Origin) -> Result<Pass, LeftAlone> {
        let now = Instant::now();
        let key = (reach, origin.clone());
        let mut known = self.lock();
        let mut is_probe = false;
        if let Some(circuit) = known.get_mut(&key) {
            circuit.used = now;
            match circuit.closed_until {
                Some(until) if until > now => return Err(LeftAlone { retry_after: until - now }),
                Some(_) if circuit.is_probed => return Err(LeftAlone { retry_after: HTTP_CIRCUIT_PAUSE }),
                Some(_) => {
                    circuit.is_probed = true;
                    is_probe = true;
                }
                None => {}
            }
        }
        Ok(Pass { circuits: self.clone(), key, is_probe, is_settled: false })
    }

    fn settle(&self, pass: &Pass, health: Health) {
        let now = Instant::now();
        let mut known = self.lock();
        match health {
            Health::Good => {
                known.remove(&pass.key);
            }
            Health::Bad => {
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
            Health::Unknown => {
                if let Some(circuit) = known.get_mut(&pass.key) {
                    circuit.is_probed &= !pass.is_probe;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Circuit>> {
        // Every change is whole before the lock is released, so a panic elsewhere leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }
}

/// Forgets the origin that matters least: one that still works, then the one unused for longest.
fn make_room(known: &mut HashMap<Key, Circuit>, key: &Key) {
    if known.len() < HTTP_CIRCUITS || known.contains_key(key) {
        return;
    }
    let least = known.iter().min_by_key(|(_, circuit)| (circuit.closed_until.is_some(), circuit.used));
    if let Some(least) = least.map(|(key, _)| key.clone()) {
        known.remove(&least);
    }
}

impl Pass {
    /// Says how it went.
    pub(super) fn settle(mut self, health: Health) {
        self.is_settled = true;
        self.circuits.settle(&self, health);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_settled {
            self.circuits.settle(self, Health::Unknown);
        }
    }
}

#[cfg(test)]
#[path = "circuit_tests.rs"]
mod tests;
