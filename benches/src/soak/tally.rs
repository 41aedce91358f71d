//! Counts what the attacks really did, part by part. A part that did nothing proves nothing, so it fails the soak.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The counters of one phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Tallies(Arc<Mutex<Vec<(&'static str, Tally)>>>);

/// How often one part of an attack reached its target.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<AtomicU64>);

impl Tallies {
    /// The counter of a part, created on first use.
    pub(super) fn part(&self, name: &'static str) -> Tally {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tally)) = parts.iter().find(|(known, _)| *known == name) {
            return tally.clone();
        }
        let tally = Tally::default();
        parts.push((name, tally.clone()));
        tally
    }

    /// Creates counters for parts that start later.
    pub(super) fn expect(&self, names: &[&'static str]) {
        for name in names {
            self.part(name);
        }
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The parts that did nothing.
    pub(super) fn idle_parts(&self) -> Vec<&'static str> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.iter().filter(|(_, tally)| tally.count() == 0).map(|(name, _)| *name).collect()
    }
}

impl Tally {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one more if the condition holds.
    pub(super) fn add_if(&self, is_so: bool) {
        if is_so {
            self.add();
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
