//! The calls to other servers that are under way, by their trace. A request that comes in with the trace of one of them was
//! caused by it: that is how a chain of agents is noticed though an agent in between says nothing but the trace.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::ids::TraceId;

/// The calls that are under way. There are as many as there are calls.
#[derive(Default)]
pub struct OutwardCalls {
    /// The hops of each, by trace.
    live: Mutex<HashMap<TraceId, Vec<u8>>>,
}

/// A call that is under way, until this is dropped.
pub struct OutwardCall<'a> {
    calls: &'a OutwardCalls,
    trace: TraceId,
    hops: u8,
}

impl OutwardCalls {
    /// A call begins that so many agents led to.
    pub fn begin(&self, trace: TraceId, hops: u8) -> OutwardCall<'_> {
        self.lock().entry(trace).or_default().push(hops);
        OutwardCall { calls: self, trace, hops }
    }

    /// How many agents led to a request that comes in with this trace: one more than to the deepest call of it.
    pub fn hops_of_arrival(&self, trace: TraceId) -> u8 {
        let deepest = self.lock().get(&trace).and_then(|calls| calls.iter().max().copied());
        deepest.map_or(0, |hops| hops.saturating_add(1))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TraceId, Vec<u8>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OutwardCall<'_> {
    fn drop(&mut self) {
        let mut live = self.calls.lock();
        if let Some(calls) = live.get_mut(&self.trace) {
            if let Some(place) = calls.iter().position(|hops| *hops == self.hops) {
                calls.swap_remove(place);
            }
            if calls.is_empty() {
                live.remove(&self.trace);
            }
        }
    }
}

#[cfg(test)]
#[path = "outward_calls_tests.rs"]
mod tests;
