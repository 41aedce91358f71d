//! What is counted for operators: messages with ids that nobody knows. A flood of them is an attack or a broken peer.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Counts {
    client_replies: AtomicU64,
    server_replies: AtomicU64,
    sessions: AtomicU64,
    requests: AtomicU64,
    states: AtomicU64,
}

/// An id that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownId {
    /// A client answered a request that we did not make, or answered it twice. The reply was dropped.
    ClientReply,
    /// An MCP server answered a request that we did not make, or answered it twice. The reply was dropped.
    ServerReply,
    /// A client named a session that does not exist, has ended, or is not its own.
    Session,
    /// A client canceled a request that is not being worked on.
    Request,
    /// A client brought back a request state that is not valid.
    State,
}

impl UnknownId {
    /// The word for metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClientReply => "client_reply",
            Self::ServerReply => "server_reply",
            Self::Session => "session",
            Self::Request => "request",
            Self::State => "request_state",
        }
    }
}

impl Counts {
    pub fn add(&self, what: UnknownId) {
        self.counter(what).fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn of(&self, what: UnknownId) -> u64 {
        self.counter(what).load(Ordering::Relaxed)
    }

    const fn counter(&self, what: UnknownId) -> &AtomicU64 {
        match what {
            UnknownId::ClientReply => &self.client_replies,
            UnknownId::ServerReply => &self.server_replies,
            UnknownId::Session => &self.sessions,
            UnknownId::Request => &self.requests,
            UnknownId::State => &self.states,
        }
    }
}
