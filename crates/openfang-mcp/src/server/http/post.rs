//! POST: which era a message belongs to, and answering it as JSON or as a stream.
//!
//! An answer that is there at once is JSON. When something is told before it, or it takes a while, the response
//! becomes a stream, for a client that takes one. A modern client that goes away cancels; a legacy one does not.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use openfang_types::jsonrpc::{ErrorObject, Id, IdRule, Incoming, RpcError, decode, encode_error, is_batch};
use openfang_types::limits::{INFLIGHT_SMALL_BYTES, MAX_MCP_MESSAGE_SIZE, MCP_QUIET};
use serde_json::value::RawValue;

use super::accept::{Accept, is_json};
use super::detached::Detached;
use super::standing::{LegacyContext, era_of};
use super::stream::Ids;
use super::{EventBody, HttpBody, HttpRequest, Refused, SESSION_ID, empty, events, headers, whole};
use crate::capabilities::ClientCapabilities;
use crate::error::McpError;
use crate::host::Host;
use crate::meta::Meta;
use crate::revision::{Era, Revision};
use crate::server::event_log::EventLog;
use crate::server::handshake::{Introduced, is_handshake};
use crate::server::outlet::{Nowhere, Outlet};
use crate::server::params::CallTarget;
use crate::server::respond::Frame;
use crate::server::running::RequestStop;
use crate::server::{Answer, Request, Server};

pub(super) type Answered = Result<Response<HttpBody>, Refused>;

/// A message that wants an answer.
pub(super) struct ClientRequest<'a> {
    id: Id,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a RawValue>,
    /// A body that counts, for as long as the work on it goes on.
    held: Option<Bytes>,
}

/// A body that counts stays with the work on it, also when its client goes away: so it counts until that is done.
pub(in crate::server) fn held(body: &Bytes) -> Option<Bytes> {
    (body.len() >= INFLIGHT_SMALL_BYTES).then(|| body.clone())
}

impl<H: Host> Server<H> {
    pub(super) async fn post(&self, request: HttpRequest<H::Caller>) -> Answered {
        if !is_json(&request.headers) {
            let error = ErrorObject::invalid_request("the body must be application/json");
            return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error));
        }
        if request.body.len() > MAX_MCP_MESSAGE_SIZE {
            let error = ErrorObject::invalid_request("the message is larger than 10 MiB");
            return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, &error));
        }
        let HttpRequest { caller, headers, body, .. } = request;
        // Both boxed, or everything around them would be as large, and moved as such.
        if is_batch(&body) {
            return Box::pin(self.post_batch(&caller, &headers, &body)).await;
        }
        match decode(&body, IdRule::Mcp) {
            Ok(Incoming::Request { id, method, params }) => {
                Box::pin(self.post_request(
                    caller,
                    &headers,
                    ClientRequest { id, method: &method, params, held: held(&body) },
                ))
                .await
            }
            Ok(other) => {
                let standing = self.standing(&caller, &headers)?;
                self.take(&caller, &standing, other);
                Ok(empty(StatusCode::ACCEPTED))
            }
            Err(error) => Err(unreadable(&error)),
        }
    }

    async fn post_request(&self, caller: H::Caller, headers: &HeaderMap, asked: ClientRequest<'_>) -> Answered {
        if is_handshake(asked.method, asked.params) {
            return self.post_initialize(&caller, headers, &asked);
        }
        let era = match era_of(headers, &asked) {
            Ok(era) => era,
            Err(error) => return Ok(answered(Answer::error(&asked.id, &error, Revision::NEWEST))),
        };
        match era {
            (Era::Modern, said) => {
                let id = asked.id.clone();
                match self.modern_request(caller, headers, asked, said).await {
                    Ok((request, log, accept)) => Ok(self.post_modern(request, log, accept).await),
                    Err(error) => Ok(answered(Answer::error(&id, &error, Revision::NEWEST))),
                }
            }
            (Era::Legacy, said) => self.post_legacy(caller, headers, asked, said).await,
        }
    }

    fn post_initialize(&self, caller: &H::Caller, headers: &HeaderMap, asked: &ClientRequest<'_>) -> Answered {
        let introduced = match Introduced::read(asked.params) {
            Ok(introduced) => introduced,
            Err(error) => return Ok(answered(Answer::error(&asked.id, &error, Revision::NEWEST_LEGACY))),
        };
        let frame = self.initialized(caller, &asked.id, introduced);
        let mut response = one(Bytes::from(frame), Accept::of(headers));
        let session = self.make_session(caller, introduced).ok();
        if let Some(value) = session.and_then(|id| HeaderValue::try_from(id).ok()) {
            response.headers_mut().insert(SESSION_ID, value);
        }
        Ok(response)
    }

    async fn modern_request(
        &self,
        caller: H::Caller,
        headers: &HeaderMap,
        asked: ClientRequest<'_>,
        (meta, named): (Meta, CallTarget),
    ) -> Result<(Request<H::Caller>, Arc<EventLog>, Accept), McpError> {
        headers::version_agrees(headers, &meta)?;
        let (revision, client) = meta.modern()?;
        let log = EventLog::queue();
        let accept = Accept::of(headers);
        let outlet: Arc<dyn Outlet> = if accept.events { Arc::clone(&log) as _ } else { Arc::new(Nowhere) };
        let request = Request {
            caller,
            id: asked.id,
            method: asked.method.to_owned(),
            params: asked.params.map(ToOwned::to_owned),
            named,
            meta,
            revision,
            client,
            session: None,
            outlet,
            stop: RequestStop::default(),
        };
        headers::agree(headers, &request)?;
        if request.method == "tools/call" && self.inner.host.has_mirrored_arguments() {
            let tools = self.inner.host.tools(&request.caller).await?;
            headers::params_agree(headers, tools.mirrored(request.params.as_deref()), request.params.as_deref())?;
        }
        Ok((request, log, accept))
    }

    async fn post_modern(&self, request: Request<H::Caller>, log: Arc<EventLog>, accept: Accept) -> Response<HttpBody> {
        // Dropped with the response: a client that goes away wants nothing more.
        let gone = request.stop.canceled().clone().drop_guard();
        let server = self.clone();
        let mut work = Box::pin(async move { server.answer(&request).await });
        let quick = tokio::select! {
            biased;
            answer = &mut work => Some(answer),
            () = becomes_stream(&log), if accept.events => None,
        };
        match quick {
            Some(Some(answer)) if log.is_quiet() && (accept.json || answer.status != 200) => answered(answer),
            Some(answer) => {
                log.finish(answer.map(|answer| answer.frame.into_bytes()));
                events(EventBody::new(log.tail(), Ids::None, None))
            }
            None => {
                let reader = log.tail();
                let rest = async move {
                    let answer = work.await;
                    log.finish(answer.map(|answer| answer.frame.into_bytes()));
                    drop(gone);
                };
                events(EventBody::new(reader, Ids::None, Some(Box::pin(rest))))
            }
        }
    }

    async fn post_legacy(
        &self,
        caller: H::Caller,
        headers: &HeaderMap,
        asked: ClientRequest<'_>,
        (meta, named): (Meta, CallTarget),
    ) -> Answered {
        let accept = Accept::of(headers);
        let LegacyContext { revision, session } = self.standing(&caller, headers)?;
        let run = match session.as_ref().map(|session| session.running.begin(&asked.id)).transpose() {
            Ok(run) => run,
            Err(why) => return Ok(answered(Answer::error(&asked.id, &why.into(), revision))),
        };
        let log = match &session {
            Some(session) => session.streams.prepare(),
            None => EventLog::queue(),
        };
        let client = session.as_ref().map_or(ClientCapabilities::NONE, |session| session.client());
        let request = Request {
            caller,
            id: asked.id,
            method: asked.method.to_owned(),
            params: asked.params.map(ToOwned::to_owned),
            named,
            meta,
            revision,
            // Who takes no events cannot be asked.
            client: if accept.events { client } else { ClientCapabilities::NONE },
            session: session.clone(),
            outlet: if accept.events { Arc::clone(&log) as _ } else { Arc::new(Nowhere) },
            stop: run.as_ref().map(|run| run.stop()).unwrap_or_default(),
        };
        let (server, told) = (self.clone(), Arc::clone(&log));
        let held = asked.held;
        let work = async move {
            let _held = held;
            server.answer(&request).await
        };
        let then = move |answer: Option<Answer>| {
            told.finish(answer.map(|answer| answer.frame.into_bytes()));
            drop(run);
        };
        let mut work = Detached::begin(work, then, &self.inner.tracker).await;
        let quick = tokio::select! {
            biased;
            answer = work.outcome() => Some(answer),
            () = becomes_stream(&log), if accept.events => None,
        };
        let quick = quick.or_else(|| work.leave());
        Ok(match quick {
            Some(Some(answer)) if log.is_quiet() && accept.json => answered(answer),
            Some(None) if log.is_quiet() => empty(StatusCode::ACCEPTED),
            quick => {
                // From before the work began, or it would not notice that the work ended its connection.
                let reader = log.from_the_beginning();
                if let Some(answer) = quick {
                    log.finish(answer.map(|answer| answer.frame.into_bytes()));
                }
                let ids = match &session {
                    Some(session) => {
                        session.streams.keep(&log);
                        if revision.facts().primed_streams { Ids::Primed } else { Ids::Each }
                    }
                    None => Ids::None,
                };
                events(EventBody::new(reader, ids, None))
            }
        })
    }
}

/// Returns when an answer had better be a stream: something was told before it, its connection is to end before it, or
/// it takes a while.
async fn becomes_stream(log: &EventLog) {
    tokio::select! {
        () = log.stirred() => {}
        () = tokio::time::sleep(MCP_QUIET) => {}
    }
}

pub(super) fn unreadable(error: &RpcError) -> Refused {
    Refused(Box::new(whole(StatusCode::BAD_REQUEST, encode_error(error.id(), &error.to_error_object()))))
}

fn answered(answer: Answer) -> Response<HttpBody> {
    whole(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK), answer.frame)
}

/// One message, in what the client takes.
pub(super) fn one(frame: Bytes, accept: Accept) -> Response<HttpBody> {
    if accept.json {
        return whole(StatusCode::OK, Frame::from(frame));
    }
    let log = EventLog::queue();
    log.finish(Some(frame));
    events(EventBody::new(log.tail(), Ids::None, None))
}
