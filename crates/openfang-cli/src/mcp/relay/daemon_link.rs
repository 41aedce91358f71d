//! The way to `/mcp` of one daemon: requests, what wants no answer, and the legacy session that belongs to them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use openfang_egress::daemon::{Daemon, NotRelayed, Relayed, Relaying, Streamed};
use openfang_mcp::relaying::{PROTOCOL_VERSION, SESSION_ID, begun_session};
use openfang_types::jsonrpc::{Id, IdRule, Incoming, decode, encode_error, encode_notification, is_batch};
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

use super::memory::Repeated;
use super::running::Ask;
use super::{Out, lost};
use crate::backend::refusal_in;
use crate::error::CliError;

/// A daemon, and the conversation with it.
pub(super) struct DaemonLink {
    daemon: Daemon,
    path: String,
    legacy: Mutex<Option<Arc<LegacySession>>>,
}

/// A session that the daemon gave.
pub(super) struct LegacySession {
    pub(super) headers: HeaderMap,
    is_watched: AtomicBool,
    /// Fires when another session takes its place.
    pub(super) ended: CancellationToken,
}

/// Why a request was not answered.
pub(super) enum Missed {
    /// It was never begun, so it can be made elsewhere.
    NotBegun,
    /// It was under way, and the client may have heard of it.
    UnderWay { was_heard: bool },
}

/// The answer to `initialize`.
pub(super) struct Introduced {
    pub(super) frame: Bytes,
    /// Whether a session began with it.
    pub(super) is_begun: bool,
}

impl From<NotRelayed> for Missed {
    fn from(error: NotRelayed) -> Self {
        tracing::debug!(%error, "the daemon did not answer");
        match error {
            NotRelayed::NotSent(_) => Self::NotBegun,
            NotRelayed::Lost(_) => Self::UnderWay { was_heard: false },
        }
    }
}

impl DaemonLink {
    pub(super) const fn new(daemon: Daemon, path: String) -> Self {
        Self { daemon, path, legacy: Mutex::new(None) }
    }

    /// Has a request answered; everything that is said of it goes out.
    pub(super) async fn ask(&self, generation: u32, ask: &Ask, out: &Out) -> Result<(), Missed> {
        let asking = self.answer(generation, ask, out);
        if !ask.is_modern() {
            return asking.await;
        }
        // A modern request is canceled by going away.
        ask.cancel.run_until_cancelled(asking).await.unwrap_or(Ok(()))
    }

    async fn answer(&self, generation: u32, ask: &Ask, out: &Out) -> Result<(), Missed> {
        let session = if ask.is_modern() { None } else { self.legacy() };
        let headers = match (&ask.request, &session) {
            (_, Some(session)) => session.headers.clone(),
            (Some(request), None) => request.headers(),
            (None, None) => HeaderMap::new(),
        };
        let relayed = self.send(Method::POST, headers, Some(ask.frame.clone())).await?;
        match relayed.content {
            // Canceled: whoever did that wants no answer.
            Streamed::Answer(answer) if answer.body.is_empty() => Ok(()),
            Streamed::Answer(answer) => {
                let is_gone = relayed.status == StatusCode::NOT_FOUND && session.is_some();
                if is_gone && is_without_id(&answer.body) {
                    return Err(Missed::NotBegun);
                }
                // A client that is gone wants no answer.
                let _ = out.send(in_protocol(ask.id(), answer.body)).await;
                Ok(())
            }
            Streamed::Events(events) => {
                // The cancel may have come before what it cancels.
                if let Some(id) = ask.id().filter(|_| ask.is_canceled()) {
                    self.tell(cancel_of(id)).await;
                }
                self.follow((generation, ask, out), session.as_deref(), events).await
            }
        }
    }

    /// Begins a legacy session, in the place of the one before.
    pub(super) async fn initialize(&self, frame: &Bytes) -> Result<Introduced, Missed> {
        let relayed = self.send(Method::POST, HeaderMap::new(), Some(frame.clone())).await?;
        let Streamed::Answer(answer) = relayed.content else { return Err(Missed::NotBegun) };
        let begun = begun_session(&relayed.headers, &answer.body);
        let is_begun = begun.is_some();
        if let Some((id, revision)) = begun {
            let headers = HeaderMap::from_iter([(SESSION_ID, id), (PROTOCOL_VERSION, revision)]);
            let session =
                LegacySession { headers, is_watched: AtomicBool::new(false), ended: CancellationToken::new() };
            let before = self.lock().replace(Arc::new(session));
            if let Some(before) = before {
                self.end(&before).await;
            }
        }
        let id = match decode(frame, IdRule::Mcp) {
            Ok(Incoming::Request { id, .. }) => Some(id),
            Ok(_) | Err(_) => None,
        };
        Ok(Introduced { frame: in_protocol(id.as_ref(), answer.body), is_begun })
    }

    /// Says again what a client said to another daemon.
    pub(super) async fn repeat(&self, said: &[Repeated]) -> Result<(), CliError> {
        let Some((introduction, rest)) = said.split_first() else { return Ok(()) };
        match self.initialize(&introduction.frame).await {
            Ok(Introduced { is_begun: true, .. }) => {}
            Ok(_) | Err(_) => return Err(CliError::Answer { why: "it does not take over the session".to_owned() }),
        }
        for Repeated { frame, .. } in rest {
            self.tell(frame.clone()).await;
        }
        Ok(())
    }

    /// Passes on what wants no answer.
    pub(super) async fn tell(&self, frame: Bytes) {
        let headers = self.legacy().map(|session| session.headers.clone()).unwrap_or_default();
        if let Err(error) = self.send(Method::POST, headers, Some(frame)).await {
            tracing::debug!(%error, "a notification did not reach the daemon");
        }
    }

    /// Ends the session, and with it everything that runs in it.
    pub(super) async fn end_session(&self) {
        let session = self.lock().take();
        if let Some(session) = session {
            self.end(&session).await;
        }
    }

    async fn end(&self, session: &LegacySession) {
        session.ended.cancel();
        if let Err(error) = self.send(Method::DELETE, session.headers.clone(), None).await {
            tracing::debug!(%error, "the session was not ended");
        }
    }

    /// Whether the session's own stream is to be read from now on; true once for each session.
    pub(super) fn begins_watching(&self) -> bool {
        self.legacy().is_some_and(|session| !session.is_watched.swap(true, Ordering::Relaxed))
    }

    pub(super) fn legacy(&self) -> Option<Arc<LegacySession>> {
        self.lock().clone()
    }

    pub(super) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Relayed, NotRelayed> {
        self.daemon.relay(Relaying { method, path_and_query: &self.path, headers, body }).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<LegacySession>>> {
        self.legacy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer as a client on stdio needs it: with the id of its request, and in the words of the protocol.
fn in_protocol(id: Option<&Id>, body: Bytes) -> Bytes {
    match (decode(&body, IdRule::Mcp), id) {
        (Ok(Incoming::Response { id: Id::Null, outcome: Err(error) }), Some(id)) => {
            encode_error(Some(id), &error).into()
        }
        (Ok(_), _) => body,
        (Err(_), _) if is_batch(&body) => body,
        (Err(_), id) => lost::refusal(id, &refusal_in(&body)),
    }
}

/// Whether an answer says which request it answers.
fn is_without_id(body: &[u8]) -> bool {
    matches!(decode(body, IdRule::Mcp), Ok(Incoming::Response { id: Id::Null, .. }))
}

/// The notification that a request is canceled.
pub(super) fn cancel_of(id: &Id) -> Bytes {
    let params = to_raw_value(&serde_json::json!({ "requestId": id })).ok();
    encode_notification("notifications/cancelled", params.as_deref()).into()
}
