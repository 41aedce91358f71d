//! Legacy sessions over HTTP. What a session is stands sealed in its id, so that plain calls need no memory; what it
//! remembers beyond that is made on first use, bounded, and forgotten when idle.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_ENDED_SESSIONS, MCP_SESSION_IDLE, MCP_SESSION_TTL, MCP_SESSIONS};

use super::Server;
use super::event_log::{EventLog, Keeps};
use super::handshake::Introduced;
use super::running::Running;
use super::session::Session;
use crate::capabilities::ClientCapabilities;
use crate::error::McpError;
use crate::host::{Host, SealedFor};
use crate::revision::{Era, Revision};

const NONCE_BYTES: usize = 16;
type Nonce = [u8; NONCE_BYTES];

const BOOT_BYTES: usize = 8;

/// The sessions that remember something.
pub(crate) struct Sessions {
    /// Tells ids that this process made from those of an earlier one.
    boot: [u8; BOOT_BYTES],
    state: Mutex<State>,
}

impl Default for Sessions {
    fn default() -> Self {
        let mut boot = [0; BOOT_BYTES];
        if let Err(error) = getrandom::fill(&mut boot) {
            tracing::warn!(%error, "sessions of an earlier start will look like ours");
        }
        Self { boot, state: Mutex::default() }
    }
}

#[derive(Default)]
struct State {
    live: HashMap<Nonce, Live>,
    /// Ended on purpose: their ids are good no more.
    ended: Remembered,
    /// Forgotten because they were idle: plain calls go on, their streams are gone.
    forgotten: Remembered,
}

struct Live {
    session: Arc<HttpSession>,
    used: i64,
}

/// A session over HTTP.
pub(crate) struct HttpSession {
    pub(crate) session: Arc<Session>,
    /// What belongs to no request.
    pub(crate) standalone: Arc<EventLog>,
}

/// A set that forgets its oldest.
#[derive(Default)]
struct Remembered {
    order: VecDeque<Nonce>,
    set: HashSet<Nonce>,
}

impl Remembered {
    fn insert(&mut self, nonce: Nonce) {
        if self.set.insert(nonce) {
            self.order.push_back(nonce);
        }
        if self.order.len() > MCP_ENDED_SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
    }

    fn contains(&self, nonce: &Nonce) -> bool {
        self.set.contains(nonce)
    }
}

/// What an id says.
struct Opened {
    nonce: Nonce,
    introduced: Introduced,
    is_of_this_start: bool,
}

/// A session that was found.
pub(crate) struct Found {
    pub(crate) http: Arc<HttpSession>,
    /// Whether its streams are here: not after a restart, and not after it was forgotten.
    pub(crate) has_streams: bool,
}

impl<H: Host> Server<H> {
    /// Makes a session id; the session itself comes into being when it has something to remember.
    pub(super) fn make_session(&self, caller: &H::Caller, introduced: Introduced) -> Result<String, McpError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| McpError::Internal)?;
        let expiry = self.now() + MCP_SESSION_TTL.as_secs().cast_signed();
        let mut payload = vec![introduced.revision.index() as u8, introduced.client.to_byte()];
        payload.extend_from_slice(&expiry.to_be_bytes());
        payload.extend_from_slice(&self.inner.sessions.boot);
        payload.extend_from_slice(&nonce);
        let owner = self.inner.host.owner(caller);
        Ok(self.inner.seal.seal(SealedFor::Session, &owner, &payload))
    }

    /// The session of an id; none when it is not ours, not this caller's, over or too old.
    pub(super) fn find_session(&self, caller: &H::Caller, id: &str) -> Option<Found> {
        let Opened { nonce, introduced, is_of_this_start } = self.opened_session(caller, id)?;
        let now = self.now();
        let mut state = self.inner.sessions.lock();
        if state.ended.contains(&nonce) {
            return None;
        }
        if state.live.get(&nonce).is_some_and(|live| live.is_idle(now)) {
            state.forget(&nonce);
        }
        let has_streams = is_of_this_start && !state.forgotten.contains(&nonce);
        if !state.live.contains_key(&nonce) && state.live.len() >= MCP_SESSIONS && !state.make_room(now) {
            return None;
        }
        let live = state
            .live
            .entry(nonce)
            .or_insert_with(|| Live { session: HttpSession::new(introduced), used: now });
        live.used = now;
        Some(Found { http: Arc::clone(&live.session), has_streams })
    }

    /// Ends a session; whether there was one.
    pub(super) fn end_session(&self, caller: &H::Caller, id: &str) -> bool {
        let Some(Opened { nonce, .. }) = self.opened_session(caller, id) else { return false };
        let mut state = self.inner.sessions.lock();
        if state.ended.contains(&nonce) {
            return false;
        }
        state.ended.insert(nonce);
        let live = state.live.remove(&nonce);
        drop(state);
        if let Some(live) = live {
            live.session.end();
        }
        true
    }

    fn opened_session(&self, caller: &H::Caller, id: &str) -> Option<Opened> {
        let owner = self.inner.host.owner(caller);
        let payload = self.inner.seal.open(SealedFor::Session, &owner, id)?;
        let (&[revision, client], rest) = payload.split_first_chunk::<2>()?;
        let (expiry, rest) = rest.split_first_chunk::<8>()?;
        let (boot, nonce) = rest.split_first_chunk::<BOOT_BYTES>()?;
        let revision = Revision::all().find(|known| known.index() == usize::from(revision))?;
        let is_good = revision.era() == Era::Legacy && i64::from_be_bytes(*expiry) >= self.now();
        let introduced = Introduced { revision, client: ClientCapabilities::from_byte(client) };
        let is_of_this_start = *boot == self.inner.sessions.boot;
        is_good.then_some(Opened { nonce: nonce.try_into().ok()?, introduced, is_of_this_start })
    }
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget(&mut self, nonce: &Nonce) {
        self.forgotten.insert(*nonce);
        if let Some(live) = self.live.remove(nonce) {
            live.session.end();
        }
    }

    /// Forgets what is idle, or else what has been quiet for longest; nothing that works.
    fn make_room(&mut self, now: i64) -> bool {
        let idle: Vec<Nonce> =
            self.live.iter().filter(|(_, live)| live.is_idle(now)).map(|(nonce, _)| *nonce).collect();
        if idle.is_empty() {
            let quiet = self.live.iter().filter(|(_, live)| live.session.is_quiet());
            let Some(oldest) = quiet.min_by_key(|(_, live)| live.used).map(|(nonce, _)| *nonce) else { return false };
            self.forget(&oldest);
        }
        for nonce in idle {
            self.forget(&nonce);
        }
        true
    }
}

impl Live {
    fn is_idle(&self, now: i64) -> bool {
        now - self.used > MCP_SESSION_IDLE.as_secs().cast_signed() && self.session.is_quiet()
    }
}

impl HttpSession {
    fn new(introduced: Introduced) -> Arc<Self> {
        let standalone = EventLog::new(0, Keeps::ForReplay);
        let session = Session::new(introduced, Arc::new(Running::default()), Arc::clone(&standalone) as _);
        Arc::new(Self { session: Arc::new(session), standalone })
    }

    /// Whether nothing runs in it and nobody listens.
    fn is_quiet(&self) -> bool {
        self.session.running.is_idle() && !self.standalone.is_read()
    }

    fn end(&self) {
        self.session.end();
        self.standalone.finish(None);
    }
}
