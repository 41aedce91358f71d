//! The W3C trace context, as far as it is used here: a request belongs to the trace that its caller names, and every
//! request to another server names it too. The trace id is our [`TraceId`].

use uuid::Uuid;

use crate::ids::TraceId;

/// The header of HTTP requests, and the member of `_meta` in MCP (SEP-414).
pub const TRACEPARENT: &str = "traceparent";
/// The number of agents that called agents until a message was sent: a member of its metadata in A2A, of `_meta` in MCP.
pub const HOPS: &str = "io.openfang/hops";
/// The OpenFang instances that an MCP tool was listed through, nearest first: a member of its `_meta`.
pub const VIA: &str = "io.openfang/via";

/// The header, and the member of `_meta`, that goes with [`TRACEPARENT`].
pub const TRACESTATE: &str = "tracestate";
/// Our member of a `tracestate`: the same number as [`HOPS`], for agents that hand on nothing but the trace.
const TRACESTATE_MEMBER: &str = "openfang";

/// The id of one request within a trace. It is never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId(u64);

impl SpanId {
    /// The id with this number; 1 instead of 0.
    pub const fn of_number(number: u64) -> Self {
        Self(if number == 0 { 1 } else { number })
    }
}

/// What a `traceparent` says: the trace, and the request in it that led to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: TraceId,
    pub parent: SpanId,
}

/// Reads a `traceparent`; none if the text is not one.
pub fn read_traceparent(text: &str) -> Option<TraceParent> {
    let mut fields = text.trim().split('-');
    let (version, trace, parent) = (fields.next()?, fields.next()?, fields.next()?);
    let flags = fields.next()?;
    let is_hex = |field: &str, length: usize| {
        field.len() == length && field.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    // Later versions may add fields; `ff` is no version.
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || fields.next().is_none());
    if !is_known || !is_hex(trace, 32) || !is_hex(parent, 16) || !is_hex(flags, 2) {
        return None;
    }
    let trace = Uuid::try_parse(trace).ok().filter(|trace| !trace.is_nil())?;
    let parent = u64::from_str_radix(parent, 16).ok().filter(|parent| *parent != 0)?;
    Some(TraceParent { trace: TraceId::from_uuid(trace), parent: SpanId(parent) })
}

/// The `traceparent` of a request that we make in a trace.
pub fn write_traceparent(TraceParent { trace, parent }: TraceParent) -> String {
    format!("00-{}-{:016x}-01", trace.as_uuid().simple(), parent.0)
}

/// The hops that a `tracestate` says; none if it does not say them.
pub fn read_tracestate(text: &str) -> Option<u8> {
    let mut members = text.split(',').filter_map(|member| member.trim().split_once('='));
    members.find(|(name, _)| *name == TRACESTATE_MEMBER)?.1.parse().ok()
}

/// The `tracestate` of a request that so many agents led to.
pub fn write_tracestate(hops: u8) -> String {
    format!("{TRACESTATE_MEMBER}={hops}")
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
