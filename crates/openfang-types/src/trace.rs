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

/// The trace that a `traceparent` names; none if the text is not one.
pub fn read_traceparent(text: &str) -> Option<TraceId> {
    let mut fields = text.trim().split('-');
    let (version, trace, parent) = (fields.next()?, fields.next()?, fields.next()?);
    let flags = fields.next()?;
    let is_hex = |field: &str, length: usize| {
        field.len() == length && field.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    // Later versions may add fields; `ff` is no version.
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || fields.next().is_none());
    let is_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
    if !is_known || !is_hex(trace, 32) || !is_hex(parent, 16) || !is_hex(flags, 2) || is_zero(trace) || is_zero(parent)
    {
        return None;
    }
    Uuid::try_parse(trace).ok().map(TraceId::from_uuid)
}

/// The `traceparent` of a request that belongs to a trace. All requests that we make for one request have one parent.
pub fn write_traceparent(trace: TraceId) -> String {
    let (upper, lower) = trace.as_uuid().as_u64_pair();
    // A peer may use ids of 64 bits, and a parent must not be zero.
    let parent = if upper == 0 { lower } else { upper };
    format!("00-{}-{parent:016x}-01", trace.as_uuid().simple())
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
