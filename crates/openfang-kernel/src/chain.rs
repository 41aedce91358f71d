//! Which trace a request belongs to, and how many agents called agents until it was made.
//!
//! An OpenFang says both with every message to another server. An agent that hands on the trace only is noticed too: the
//! call that led to it is still under way here.

use std::borrow::Cow;

use openfang_types::ids::TraceId;
use openfang_types::trace::{HOPS, TRACEPARENT, read_traceparent};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::access::Caller;
use crate::kernel::Kernel;

/// What an HTTP request says about where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    pub trace: TraceId,
    /// How many agents called agents until it was made.
    pub hops: u8,
}

impl Kernel {
    /// The place of a request in its trace: the one that its `traceparent` names, or a new one.
    pub fn arrival(&self, traceparent: Option<&str>) -> Arrival {
        match traceparent.and_then(read_traceparent) {
            Some(trace) => Arrival { trace, hops: self.inner.pipeline.outward_calls().hops_of_arrival(trace) },
            None => Arrival { trace: self.trace(), hops: 0 },
        }
    }

    /// The caller of an MCP request, with what its `_meta` says; that counts more than the HTTP header.
    pub(crate) fn caller_of_meta<'c>(&self, caller: &'c Caller, meta: Option<&RawValue>) -> Cow<'c, Caller> {
        let Some(meta) = meta.filter(|meta| [TRACEPARENT, HOPS].iter().any(|name| meta.get().contains(name))) else {
            return Cow::Borrowed(caller);
        };
        match serde_json::from_str::<Map<String, Value>>(meta.get()) {
            Ok(members) => Cow::Owned(self.caller_of(caller, &members)),
            Err(_) => Cow::Borrowed(caller),
        }
    }

    /// The caller of an A2A message, with what its metadata says.
    pub(crate) fn caller_of_message(&self, caller: &Caller, metadata: &Map<String, Value>) -> Caller {
        self.caller_of(caller, metadata)
    }

    fn caller_of(&self, caller: &Caller, said: &Map<String, Value>) -> Caller {
        let named = said.get(TRACEPARENT).and_then(Value::as_str).and_then(read_traceparent);
        let known = named.map_or(0, |trace| self.inner.pipeline.outward_calls().hops_of_arrival(trace));
        // Whatever is no number that fits is more than any limit.
        let claimed = said
            .get(HOPS)
            .map_or(0, |hops| hops.as_u64().and_then(|hops| u8::try_from(hops).ok()).unwrap_or(u8::MAX));
        let hops = caller.hops.max(known).max(claimed);
        Caller { trace: named.unwrap_or(caller.trace), hops, ..caller.clone() }
    }
}
