//! Where a request's messages go before its answer: progress, log lines, questions.

use bytes::Bytes;

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// May be left out when the reader is slow.
    Light,
    Heavy,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is on its way.
    Taken,
    /// The reader is slow, and it was left out.
    Full,
    Gone,
}

/// Takes messages for a peer. Never waits.
pub(crate) trait Outlet: Send + Sync {
    fn send(&self, frame: Bytes, weight: Weight) -> Sent;

    /// Ends the connection that carries the messages; where the transport can resume, the rest is fetched later.
    fn end_connection(&self) {}
}

/// For peers that take nothing but the answer.
pub(crate) struct Nowhere;

impl Outlet for Nowhere {
    fn send(&self, _: Bytes, _: Weight) -> Sent {
        Sent::Gone
    }
}
