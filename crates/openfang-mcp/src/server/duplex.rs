//! One peer on a connection that carries everything both ways: stdio, and the old HTTP+SSE.
//!
//! Requests of both eras may come on it; each is worked on by itself, so that a slow one holds up none.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use openfang_types::jsonrpc::{
    ErrorObject, Id, IdRule, Incoming, RpcError, decode, decode_batch, encode_error, is_batch,
};
use openfang_types::limits::MCP_BATCH;
use serde_json::value::RawValue;

use super::event_log::EventLog;
use super::handshake::{Introduced, is_handshake};
use super::notifications::heard;
use super::outlet::{Outlet as _, Weight};
use super::params;
use super::running::{NotBegun, Run, Running};
use super::session::Session;
use super::shared::OwnerMemory;
use super::{Answer, Request, Server};
use crate::capabilities::ClientCapabilities;
use crate::counts::UnknownId;
use crate::error::McpError;
use crate::host::Host;
use crate::revision::Revision;

pub(crate) struct Duplex<H: Host> {
    server: Server<H>,
    out: Arc<EventLog>,
    running: Arc<Running>,
    session: Mutex<Option<Arc<Session>>>,
    /// What the sessions of the peer's owner take.
    memory: Arc<OwnerMemory>,
}

impl<H: Host> Duplex<H> {
    pub(crate) fn new(server: Server<H>, caller: &H::Caller, out: Arc<EventLog>) -> Self {
        let memory = server.inner.shared.memory_of(&server.inner.host.owner(caller));
        Self { server, out, running: Arc::default(), session: Mutex::new(None), memory }
    }

    /// Whether its answers wait to be read.
    pub(crate) fn is_full(&self) -> bool {
        self.out.is_full()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// Takes a frame of this caller: on some transports every frame has a credential of its own, and brings the labels
    /// of that. What comes of it goes out when it is done; until then `held` is held.
    pub(crate) fn accept(&self, caller: &H::Caller, frame: &[u8], held: Option<Bytes>) {
        let session = self.session();
        if is_batch(frame) && session.as_ref().is_some_and(|session| session.revision().facts().batches) {
            return self.accept_batch(caller, frame, held);
        }
        match self.work(caller, decode(frame, IdRule::Mcp)) {
            None => {}
            // Said at once, and so before anything that is asked for next.
            Some(Work::Done(frame)) => drop(self.out.send(frame, Weight::Heavy)),
            Some(Work::Begun(work)) => {
                let out = Arc::clone(&self.out);
                self.server.inner.tracker.spawn(async move {
                    let _held = held;
                    let worked = work.await;
                    if let Some(frame) = worked.frame {
                        out.send(frame, Weight::Heavy);
                    }
                    drop(worked.run);
                });
            }
        }
    }

    /// A frame that could not be read.
    pub(crate) fn refuse(&self, error: &ErrorObject) {
        self.out.send(Bytes::from(encode_error(None, error)), Weight::Heavy);
    }

    /// The conversation is over.
    pub(crate) fn end(&self) {
        self.running.cancel_all();
        if let Some(session) = self.session() {
            session.end();
        }
    }

    fn accept_batch(&self, caller: &H::Caller, frame: &[u8], held: Option<Bytes>) {
        let messages = match decode_batch(frame, IdRule::Mcp, MCP_BATCH) {
            Ok(messages) => messages,
            Err(error) => return self.refuse(&error.to_error_object()),
        };
        let works: Vec<_> = messages.into_iter().filter_map(|message| self.work(caller, message)).collect();
        let out = Arc::clone(&self.out);
        self.server.inner.tracker.spawn(async move {
            let _held = held;
            let mut worked = futures_util::future::join_all(works.into_iter().map(Work::ended)).await;
            if let Some(batch) = batched(worked.iter_mut().filter_map(|worked| worked.frame.take())) {
                out.send(batch, Weight::Heavy);
            }
            drop(worked);
        });
    }

    /// The work that a message is, if it wants an answer.
    fn work(&self, caller: &H::Caller, message: Result<Incoming<'_>, RpcError>) -> Option<Work> {
        let counts = &self.server.inner.shared.counts;
        match message {
            Ok(Incoming::Request { id, method, params }) => Some(self.request(caller, id, &method, params)),
            Ok(Incoming::Notification { method, params }) => {
                heard(counts, &self.running, &method, params);
                if let (Some(session), "notifications/initialized") = (self.session(), &*method) {
                    self.server.watch_lists(caller, &session);
                }
                None
            }
            Ok(Incoming::Response { id, outcome }) => {
                self.answered(caller, &id, outcome.map(ToOwned::to_owned));
                None
            }
            Err(RpcError::BadResponse { id, fault }) => {
                self.answered(caller, &id.unwrap_or(Id::Null), Err(ErrorObject::invalid_request(fault)));
                None
            }
            Err(error) => Some(Work::Done(encode_error(error.id(), &error.to_error_object()).into())),
        }
    }

    /// A reply to nothing that we asked this caller is dropped, and counted.
    fn answered(&self, caller: &H::Caller, id: &Id, reply: Result<Box<RawValue>, ErrorObject>) {
        let credential = self.server.inner.host.credential(caller);
        if !self.session().is_some_and(|session| session.answered(&credential, id, reply)) {
            self.server.inner.shared.counts.add(UnknownId::ClientReply);
        }
    }

    fn request(&self, caller: &H::Caller, id: Id, method: &str, params: Option<&RawValue>) -> Work {
        if is_handshake(method, params) {
            return Work::Done(self.initialize(caller, &id, params));
        }
        let (revision, session) = match self.session() {
            Some(session) => (session.revision(), Some(session)),
            None => (Revision::UNNAMED, None),
        };
        let legacy = session.as_ref().map_or(ClientCapabilities::NONE, |session| session.client());
        let understood = params::read(params).and_then(|(meta, named)| {
            let is_modern = meta.is_modern() || method == "server/discover";
            let (revision, client) = if is_modern { meta.modern()? } else { (revision, legacy) };
            Ok((meta, named, revision, client))
        });
        let (meta, named, revision, client) = match understood {
            Ok(understood) => understood,
            Err(error) => return Work::Done(Answer::error(&id, &error, Revision::NEWEST).frame.into_bytes()),
        };
        let run = match self.running.begin(&id) {
            Ok(run) => run,
            Err(why) => return Work::Done(Answer::error(&id, &why.into(), revision).frame.into_bytes()),
        };
        let request = Request {
            caller: caller.clone(),
            id,
            method: method.to_owned(),
            params: params.map(ToOwned::to_owned),
            named,
            meta,
            revision,
            client,
            session,
            outlet: Arc::clone(&self.out) as _,
            stop: run.stop(),
        };
        let server = self.server.clone();
        Work::Begun(Box::pin(async move {
            let frame = server.answer(&request).await.map(|answer| answer.frame.into_bytes());
            Worked { frame, run: Some(run) }
        }))
    }

    fn initialize(&self, caller: &H::Caller, id: &Id, params: Option<&RawValue>) -> Bytes {
        let introduced = match Introduced::read(params) {
            Ok(introduced) => introduced,
            Err(error) => return Answer::error(id, &error, Revision::NEWEST_LEGACY).frame.into_bytes(),
        };
        let (running, memory) = (Arc::clone(&self.running), Arc::clone(&self.memory));
        let session = Session::new(introduced, running, Arc::clone(&self.out) as _, memory);
        let before = self.session.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(session));
        if let Some(before) = before {
            before.ended.cancel();
        }
        Bytes::from(self.server.initialized(caller, id, introduced))
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Work on a request.
enum Work {
    /// There was nothing to do but to answer.
    Done(Bytes),
    /// It takes its time.
    Begun(std::pin::Pin<Box<dyn Future<Output = Worked> + Send>>),
}

impl Work {
    async fn ended(self) -> Worked {
        match self {
            Self::Done(frame) => Worked { frame: Some(frame), run: None },
            Self::Begun(work) => work.await,
        }
    }
}

/// What came of it.
struct Worked {
    /// The answer, unless it was canceled.
    frame: Option<Bytes>,
    /// Until this goes, and so until the answer is on its way, the request runs.
    run: Option<Run>,
}

impl From<NotBegun> for McpError {
    fn from(why: NotBegun) -> Self {
        match why {
            NotBegun::SameId => Self::DuplicateId,
            NotBegun::TooMany => Self::Busy("too many requests are being worked on; wait for some".to_owned()),
        }
    }
}

/// Answers as one array; none when nothing wants an answer.
pub(crate) fn batched(answers: impl Iterator<Item = Bytes>) -> Option<Bytes> {
    let mut batch = vec![b'['];
    for answer in answers {
        if batch.len() > 1 {
            batch.push(b',');
        }
        batch.extend_from_slice(&answer);
    }
    batch.push(b']');
    (batch.len() > 2).then(|| Bytes::from(batch))
}
