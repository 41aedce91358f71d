//! The calls to other servers that are under way, by their trace. A request that comes in with the trace of one of them may
//! have been caused by it: that is how a chain of agents is noticed though an agent in between says nothing but the trace.
//!
//! A caller may also make several calls in one trace at the same time, which is no chain. A request is told to be
//!
//! - caused by a call, if it names the span of that call as its parent;
//! - one more call of the caller that began, if the owner of the first call that is under way makes it;
//! - caused by the deepest call, if somebody else makes it.
//!
//! An agent that makes spans of its own, drops the `tracestate` and has the credential of the caller cannot be told from the
//! caller. The number of messages that may be under way to an agent ends that chain.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::ids::{Owner, TraceId};
use openfang_types::trace::{SpanId, TraceParent};
use uuid::Uuid;

/// The calls that are under way. There are as many as there are calls.
pub struct OutwardCalls {
    /// The calls of each trace, in the order in which they began.
    live: Mutex<HashMap<TraceId, Vec<LiveCall>>>,
    /// The span of the next call. The first one is random, so that two processes have different ones.
    next_span: AtomicU64,
}

struct LiveCall {
    span: SpanId,
    owner: Owner,
    hops: u8,
}

/// A call that is under way, until this is dropped.
pub struct OutwardCall<'a> {
    calls: &'a OutwardCalls,
    parent: TraceParent,
}

impl Default for OutwardCalls {
    fn default() -> Self {
        Self { live: Mutex::default(), next_span: AtomicU64::new(Uuid::new_v4().as_u64_pair().0) }
    }
}

impl OutwardCalls {
    /// A call of this owner begins that so many agents led to.
    pub fn begin(&self, trace: TraceId, owner: &Owner, hops: u8) -> OutwardCall<'_> {
        let span = SpanId::of_number(self.next_span.fetch_add(1, Ordering::Relaxed));
        self.lock().entry(trace).or_default().push(LiveCall { span, owner: owner.clone(), hops });
        OutwardCall { calls: self, parent: TraceParent { trace, parent: span } }
    }

    /// How many agents led to a request that comes in from this owner.
    pub fn hops_of_arrival(&self, TraceParent { trace, parent }: TraceParent, owner: &Owner) -> u8 {
        let live = self.lock();
        let Some(calls) = live.get(&trace) else { return 0 };
        if let Some(cause) = calls.iter().find(|call| call.span == parent) {
            return cause.hops.saturating_add(1);
        }
        match calls.first() {
            Some(first) if first.owner == *owner => first.hops,
            _ => calls.iter().map(|call| call.hops.saturating_add(1)).max().unwrap_or(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TraceId, Vec<LiveCall>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutwardCall<'_> {
    /// What the requests of this call name as their parent.
    pub const fn parent(&self) -> TraceParent {
        self.parent
    }
}

impl Drop for OutwardCall<'_> {
    fn drop(&mut self) {
        let TraceParent { trace, parent } = self.parent;
        let mut live = self.calls.lock();
        if let Some(calls) = live.get_mut(&trace) {
            calls.retain(|call| call.span != parent);
            if calls.is_empty() {
                live.remove(&trace);
            }
        }
    }
}

#[cfg(test)]
#[path = "outward_calls_tests.rs"]
mod tests;
