//! Which sessions of an owner are no more: ended on purpose, or forgotten.
//!
//! Ids are sealed and good for a day, so what was ended has to be remembered for as long. When there is no room for all,
//! everything that began as early as the one that is left out is over too: its client begins again, and nothing that was ended
//! comes back.

use std::collections::{BTreeSet, HashSet, VecDeque};

use openfang_types::limits::{MCP_ENDED_SESSIONS, MCP_FORGOTTEN_SESSIONS};

use crate::host::EndedSession;

/// What tells sessions apart.
pub(super) type Nonce = [u8; 16];
/// A session, and at which server.
pub(super) type SessionKey = (Nonce, u64);

/// The sessions of one owner that were ended.
#[derive(Default)]
pub(super) struct Ended {
    /// By when they expire, and so by when they began.
    sessions: BTreeSet<(i64, Nonce)>,
    /// Every session that expires by then is over.
    over_until: i64,
}

impl Ended {
    pub(super) fn insert(&mut self, nonce: Nonce, expiry: i64, now: i64) {
        self.forget_expired(now);
        self.sessions.insert((expiry, nonce));
        self.keep_to_size();
    }

    /// Takes what an earlier start wrote down.
    pub(super) fn learn(&mut self, entry: &EndedSession) {
        match entry.nonce {
            Some(nonce) => {
                self.sessions.insert((entry.expiry, nonce));
                self.keep_to_size();
            }
            None => self.over_until = self.over_until.max(entry.expiry),
        }
    }

    pub(super) fn contains(&self, nonce: Nonce, expiry: i64) -> bool {
        expiry <= self.over_until || self.sessions.contains(&(expiry, nonce))
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    fn keep_to_size(&mut self) {
        if self.sessions.len() > MCP_ENDED_SESSIONS
            && let Some((expiry, _)) = self.sessions.pop_first()
        {
            self.over_until = self.over_until.max(expiry);
        }
    }

    fn forget_expired(&mut self, now: i64) {
        self.sessions = self.sessions.split_off(&(now, Nonce::default()));
    }
}

/// All that still matters, for the next start.
pub(super) fn compacted<'a>(owners: impl Iterator<Item = (&'a str, &'a mut Ended)>, now: i64) -> Vec<EndedSession> {
    let mut entries = Vec::new();
    for (owner, ended) in owners {
        ended.forget_expired(now);
        let entry = |nonce, expiry| EndedSession { owner: owner.to_owned(), nonce, expiry };
        entries.extend((ended.over_until >= now).then(|| entry(None, ended.over_until)));
        entries.extend(ended.sessions.iter().map(|(expiry, nonce)| entry(Some(*nonce), *expiry)));
    }
    entries
}

/// Places, of which the oldest are no longer remembered: such a session looks like a new one.
#[derive(Default)]
pub(super) struct Remembered {
    order: VecDeque<SessionKey>,
    set: HashSet<SessionKey>,
}

impl Remembered {
    pub(super) fn insert(&mut self, place: SessionKey) {
        if self.set.insert(place) {
            self.order.push_back(place);
        }
        if self.order.len() > MCP_FORGOTTEN_SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
    }

    pub(super) fn contains(&self, place: &SessionKey) -> bool {
        self.set.contains(place)
    }
}

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;
