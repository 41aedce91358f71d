//! Legacy sessions over HTTP. What a session is stands sealed in its id, so that plain calls need no memory; what it
//! remembers beyond that is made on first use, bounded for each owner, and forgotten when idle.
//!
//! An id is good at every server of the process. Each of them remembers for itself what was told there; a session that
//! ends, ends at all of them, and after a restart too (`ended.rs`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_JOURNAL_SLACK, MCP_SESSION_IDLE, MCP_SESSION_TTL};
use openfang_types::quota::Quota;
use tokio::sync::Semaphore;

use super::Server;
use super::ended::{Ended, Nonce, Remembered, SessionKey, compacted};
use super::event_log::EventLog;
use super::handshake::Introduced;
use super::running::Running;
use super::session::Session;
use super::shared::OwnerMemory;
use crate::capabilities::ClientCapabilities;
use crate::client_name::ClientName;
use crate::counts::UnknownId;
use crate::error::McpError;
use crate::host::{EndedSession, Host, SealedFor, SessionJournal};
use crate::revision::Revision;

const BOOT_BYTES: usize = 8;

/// The sessions of all owners that remember something.
pub(crate) struct Sessions {
    /// Tells ids that this process made from those of an earlier one.
    boot: [u8; BOOT_BYTES],
    quota: Quota,
    state: Mutex<State>,
    journal: Arc<dyn SessionJournal>,
    /// What is written down is written in the order in which it happened.
    writing: Semaphore,
}

#[derive(Default)]
struct State {
    owners: HashMap<String, OwnerSessions>,
    /// Those of all owners that remember something.
    all: usize,
    /// Entries of the journal.
    journaled: usize,
}

/// The sessions of one owner.
#[derive(Default)]
struct OwnerSessions {
    live: HashMap<SessionKey, Live>,
    /// Ended on purpose: their ids are good no more.
    ended: Ended,
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

/// What an id says.
struct Opened {
    nonce: Nonce,
    expiry: i64,
    introduced: Introduced,
    is_of_this_start: bool,
}

/// A session that was found.
pub(crate) struct Found {
    pub(crate) http: Arc<HttpSession>,
    /// Whether its streams are here: not after a restart, and not after it was forgotten.
    pub(crate) has_streams: bool,
}

/// Why there is no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSession {
    /// The id is not ours, not this caller's, over or too old.
    Unknown,
    /// The owner has as many sessions at work as it may have.
    TooMany,
}

impl<H: Host> Server<H> {
    /// Makes a session id; the session itself comes into being when it has something to remember.
    pub(super) fn make_session(&self, caller: &H::Caller, introduced: Introduced) -> Result<String, McpError> {
        let mut nonce = Nonce::default();
        getrandom::fill(&mut nonce).map_err(|_| McpError::Internal)?;
        let expiry = self.now() + MCP_SESSION_TTL.as_secs().cast_signed();
        let mut payload = vec![introduced.revision.index() as u8, introduced.client.to_byte()];
        payload.extend_from_slice(&introduced.name.to_bytes());
        payload.extend_from_slice(&expiry.to_be_bytes());
        payload.extend_from_slice(&self.inner.shared.sessions.boot);
        payload.extend_from_slice(&nonce);
        payload.extend_from_slice(self.inner.host.scope(caller).as_bytes());
        let owner = self.inner.host.owner(caller);
        Ok(self.inner.seal.seal(SealedFor::Session, &owner, &payload))
    }

    /// The session of an id.
    pub(super) fn find_session(&self, caller: &H::Caller, id: &str) -> Result<Found, NoSession> {
        let owner = self.inner.host.owner(caller);
        let found = match self.opened_session(caller, &owner, id) {
            Some(opened) => self.inner.shared.sessions.find(&owner, &opened, (self.inner.number, self.now()), || {
                HttpSession::new(opened.introduced, self.inner.shared.memory_of(&owner))
            }),
            None => Err(NoSession::Unknown),
        };
        if matches!(found, Err(NoSession::Unknown)) {
            self.inner.shared.counts.add(UnknownId::Session);
        }
        found
    }

    /// Ends a session, at every server and for good; whether there was one.
    pub(super) async fn end_session(&self, caller: &H::Caller, id: &str) -> bool {
        let (owner, sessions) = (self.inner.host.owner(caller), &self.inner.shared.sessions);
        let opened = self.opened_session(caller, &owner, id);
        let _turn = sessions.writing.acquire().await;
        match opened.and_then(|opened| sessions.end(&owner, &opened, self.now())) {
            Some(written) => {
                sessions.write_down(written).await;
                true
            }
            None => {
                self.inner.shared.counts.add(UnknownId::Session);
                false
            }
        }
    }

    fn opened_session(&self, caller: &H::Caller, owner: &str, id: &str) -> Option<Opened> {
        let payload = self.inner.seal.open(SealedFor::Session, owner, id)?;
        let (&[revision, client], rest) = payload.split_first_chunk::<2>()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (expiry, rest) = rest.split_first_chunk::<8>()?;
        let (boot, rest) = rest.split_first_chunk::<BOOT_BYTES>()?;
        let (nonce, scope) = rest.split_first_chunk()?;
        if scope != self.inner.host.scope(caller).as_bytes() {
            return None;
        }
        let revision = Revision::all().find(|known| known.index() == usize::from(revision))?;
        let expiry = i64::from_be_bytes(*expiry);
        let is_good = revision.facts().sessions && expiry >= self.now();
        let (client, name) = (ClientCapabilities::from_byte(client), ClientName::from_bytes(*name));
        let introduced = Introduced { revision, client, name };
        let is_of_this_start = *boot == self.inner.shared.sessions.boot;
        is_good.then_some(Opened { nonce: *nonce, expiry, introduced, is_of_this_start })
    }
}

impl Sessions {
    pub(super) fn new(quota: Quota, journal: Arc<dyn SessionJournal>) -> Self {
        let mut state = State::default();
        for entry in journal.read() {
            state.journaled += 1;
            state.of(&entry.owner).ended.learn(&entry);
        }
        let mut boot = [0; BOOT_BYTES];
        if let Err(error) = getrandom::fill(&mut boot) {
            tracing::warn!(%error, "sessions of an earlier start will look like ours");
        }
        Self { boot, quota, state: Mutex::new(state), journal, writing: Semaphore::new(1) }
    }

    fn find(
        &self,
        owner: &str,
        opened: &Opened,
        (server, now): (u64, i64),
        make: impl FnOnce() -> Arc<HttpSession>,
    ) -> Result<Found, NoSession> {
        let place = (opened.nonce, server);
        let mut state = self.lock();
        if let Some(owned) = state.owners.get_mut(owner) {
            if owned.ended.contains(opened.nonce, opened.expiry) {
                return Err(NoSession::Unknown);
            }
            if let Some(live) = owned.live.get_mut(&place).filter(|live| !live.is_idle(now)) {
                live.used = now;
                let http = Arc::clone(&live.session);
                return Ok(Found { http, has_streams: opened.is_of_this_start && !owned.forgotten.contains(&place) });
            }
        }
        state.forget(owner, &place);
        let has_streams = opened.is_of_this_start && !state.of(owner).forgotten.contains(&place);
        if !state.has_room(owner, self.quota) && !state.make_room(owner, self.quota, now) {
            return Err(NoSession::TooMany);
        }
        let session = make();
        state.of(owner).live.insert(place, Live { session: Arc::clone(&session), used: now });
        state.all += 1;
        Ok(Found { http: session, has_streams })
    }

    /// Ends a session; what is to be written down of it, unless it was over before.
    fn end(&self, owner: &str, opened: &Opened, now: i64) -> Option<Written> {
        let mut state = self.lock();
        let owned = state.of(owner);
        if owned.ended.contains(opened.nonce, opened.expiry) {
            return None;
        }
        owned.ended.insert(opened.nonce, opened.expiry, now);
        let is_over = |place: &SessionKey, _: &mut Live| place.0 == opened.nonce;
        let over: Vec<Live> = owned.live.extract_if(is_over).map(|(_, live)| live).collect();
        state.all -= over.len();
        let entry = EndedSession { owner: owner.to_owned(), nonce: Some(opened.nonce), expiry: opened.expiry };
        let written = state.written(entry, now);
        drop(state);
        over.iter().for_each(|live| live.session.end());
        Some(written)
    }

    async fn write_down(&self, written: Written) {
        match written {
            Written::One(entry) => self.journal.add(entry).await,
            Written::All(entries) => self.journal.replace(entries).await,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What goes into the journal.
enum Written {
    One(EndedSession),
    /// In the place of all that is there, most of which has expired.
    All(Vec<EndedSession>),
}

impl State {
    fn written(&mut self, entry: EndedSession, now: i64) -> Written {
        self.journaled += 1;
        let ended: usize = self.owners.values().map(|owned| owned.ended.len()).sum();
        if self.journaled <= 2 * ended + MCP_JOURNAL_SLACK {
            return Written::One(entry);
        }
        let all = compacted(self.owners.iter_mut().map(|(owner, owned)| (owner.as_str(), &mut owned.ended)), now);
        self.journaled = all.len();
        Written::All(all)
    }

    fn of(&mut self, owner: &str) -> &mut OwnerSessions {
        self.owners.entry(owner.to_owned()).or_default()
    }

    fn has_room(&self, owner: &str, quota: Quota) -> bool {
        let owned = self.owners.get(owner).map_or(0, |owned| owned.live.len());
        quota.admits(owned, self.all, 1)
    }

    fn forget(&mut self, owner: &str, place: &SessionKey) {
        let owned = self.of(owner);
        if let Some(live) = owned.live.remove(place) {
            owned.forgotten.insert(*place);
            self.all -= 1;
            live.session.end();
        }
    }

    /// Forgets sessions of this owner that are not at work. An owner that has none to forget gets the room of the one
    /// that has most.
    fn make_room(&mut self, owner: &str, quota: Quota, now: i64) -> bool {
        self.forget_quiet(owner, now);
        if self.has_room(owner, quota) {
            return true;
        }
        let most = self.owners.iter().max_by_key(|(_, owned)| owned.live.len()).map(|(name, _)| name.clone());
        if let Some(most) = most.filter(|most| most != owner) {
            self.forget_quiet(&most, now);
        }
        self.has_room(owner, quota)
    }

    /// Forgets what is idle, or else what has been quiet for longest; nothing that works.
    fn forget_quiet(&mut self, owner: &str, now: i64) {
        let owned = self.of(owner);
        let mut places: Vec<SessionKey> =
            owned.live.iter().filter(|(_, live)| live.is_idle(now)).map(|(place, _)| *place).collect();
        if places.is_empty() {
            let quiet = owned.live.iter().filter(|(_, live)| live.session.is_quiet());
            places.extend(quiet.min_by_key(|(_, live)| live.used).map(|(place, _)| *place));
        }
        for place in places {
            self.forget(owner, &place);
        }
    }
}

impl Live {
    fn is_idle(&self, now: i64) -> bool {
        now - self.used > MCP_SESSION_IDLE.as_secs().cast_signed() && self.session.is_quiet()
    }
}

impl HttpSession {
    fn new(introduced: Introduced, memory: Arc<OwnerMemory>) -> Arc<Self> {
        let standalone = EventLog::for_replay(0, Arc::clone(&memory));
        let session = Session::new(introduced, Arc::new(Running::default()), Arc::clone(&standalone) as _, memory);
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
