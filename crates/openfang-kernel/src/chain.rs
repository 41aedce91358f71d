//! Which trace a request belongs to, and how many agents called agents until it was made.
//!
//! An OpenFang says both with every message to another server. An agent that hands on the trace only is noticed too: the
//! call that led to it is still under way here.

use std::borrow::Cow;
use std::sync::Arc;

use openfang_runtime::outward_calls::OutwardCalls;
use openfang_types::ids::TraceId;
use openfang_types::principal::{Door, Principal};
use openfang_types::trace::{HOPS, TRACEPARENT, TRACESTATE, TraceParent, read_traceparent, read_tracestate};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::access::Caller;

/// What an HTTP request says about where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    pub trace: TraceId,
    parent: Option<TraceParent>,
    /// How many agents called agents until it was made, as it says itself.
    claimed: u8,
}

impl Arrival {
    /// The place that `traceparent` and `tracestate` name, or a new one.
    pub(crate) fn of(traceparent: Option<&str>, tracestate: Option<&str>, new: impl FnOnce() -> TraceId) -> Self {
        match traceparent.and_then(read_traceparent) {
            Some(parent) => {
                let claimed = tracestate.and_then(read_tracestate).unwrap_or(0);
                Self { trace: parent.trace, parent: Some(parent), claimed }
            }
            None => Self { trace: new(), parent: None, claimed: 0 },
        }
    }

    /// Whoever makes a request that arrived so.
    pub(crate) fn caller(self, calls: &OutwardCalls, principal: Arc<Principal>, door: Door) -> Caller {
        let known = hops_of(calls, self.parent, &principal);
        Caller { principal, door, trace: self.trace, hops: known.max(self.claimed), room: None }
    }
}

/// The caller of an MCP request, with what its `_meta` says; that counts more than the HTTP header.
pub(crate) fn caller_of_meta<'c>(calls: &OutwardCalls, caller: &'c Caller, meta: Option<&RawValue>) -> Cow<'c, Caller> {
    let Some(meta) = meta.filter(|meta| [TRACEPARENT, HOPS].iter().any(|name| meta.get().contains(name))) else {
        return Cow::Borrowed(caller);
    };
    match serde_json::from_str::<Map<String, Value>>(meta.get()) {
        Ok(members) => Cow::Owned(caller_of(calls, caller, &members)),
        Err(_) => Cow::Borrowed(caller),
    }
}

/// The caller of a message or a request, with what its metadata says.
pub(crate) fn caller_of(calls: &OutwardCalls, caller: &Caller, said: &Map<String, Value>) -> Caller {
    let text = |name: &str| said.get(name).and_then(Value::as_str);
    let named = text(TRACEPARENT).and_then(read_traceparent);
    let known = hops_of(calls, named, &caller.principal);
    let traced = text(TRACESTATE).and_then(read_tracestate).unwrap_or(0);
    // Whatever is no number that fits is more than any limit.
    let claimed = said
        .get(HOPS)
        .map_or(0, |hops| hops.as_u64().and_then(|hops| u8::try_from(hops).ok()).unwrap_or(u8::MAX));
    let hops = caller.hops.max(known).max(traced).max(claimed);
    Caller { trace: named.map_or(caller.trace, |named| named.trace), hops, ..caller.clone() }
}

/// How many agents led to a request with this parent, as far as the calls that are under way tell.
fn hops_of(calls: &OutwardCalls, parent: Option<TraceParent>, principal: &Principal) -> u8 {
    parent.map_or(0, |parent| calls.hops_of_arrival(parent, principal.owner()))
}
