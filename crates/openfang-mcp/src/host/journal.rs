//! What of the sessions outlives the process: which of them were ended.

use std::pin::Pin;

/// Remembers which sessions were ended, for the next start. Whoever cannot write it down says so in the log: the session is
/// over all the same, until then.
pub trait SessionJournal: Send + Sync {
    /// What was written down.
    fn read(&self) -> Vec<EndedSession>;

    fn add(&self, ended: EndedSession) -> JournalFuture<'_>;

    /// Replaces all that was written down.
    fn replace(&self, all: Vec<EndedSession>) -> JournalFuture<'_>;
}

/// Ends when something was written down.
pub type JournalFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A session that was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedSession {
    pub owner: String,
    /// Which; none where all are over that expire as early.
    pub nonce: Option<[u8; 16]>,
    /// When its id would expire, in seconds since 1970.
    pub expiry: i64,
}

pub struct Forgetful;

impl SessionJournal for Forgetful {
    fn read(&self) -> Vec<EndedSession> {
        Vec::new()
    }

    fn add(&self, _: EndedSession) -> JournalFuture<'_> {
        Box::pin(std::future::ready(()))
    }

    fn replace(&self, _: Vec<EndedSession>) -> JournalFuture<'_> {
        Box::pin(std::future::ready(()))
    }
}
