//! POST: which era a message belongs to, and answering it as JSON or as a stream.
//!
//! An answer that is there at once is JSON. When something is told before it, or it takes a while, the response
//! becomes a stream, for a client that takes one. A modern client that goes away cancels; a legacy one does not.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use openfang_types::jsonrpc::{
    ErrorObject, Id, IdRule, Incoming, RpcError, decode, decode_batch, encode_error, is_batch,
};
use openfang_types::limits::{MAX_MCP_MESSAGE_SIZE, MCP_BATCH, MCP_QUIET};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::accept::{Accept, is_json};
use super::detached::Detached;
use super::stream::Ids;
use super::{
    EventBody, HttpBody, HttpRequest, PROTOCOL_VERSION, Refused, SESSION_ID, empty, events, headers, single, whole,
};
use crate::capabilities::ClientCapabilities;
use crate::error::McpError;
use crate::host::Host;
use crate::meta::Meta;
use crate::revision::{Era, Revision};
use crate::server::duplex::batched;
use crate::server::event_log::{EventLog, Keeps};
use crate::server::handshake::{Introduced, is_handshake};
use crate::server::outlet::{Nowhere, Outlet};
use crate::server::session::Session;
use crate::server::{Answer, Request, Server};

type Answered = Result<Response<HttpBody>, Refused>;

/// A message that wants an answer.
struct Asked<'a> {
    id: Id,
    method: &'a str,
    params: Option<&'a RawValue>,
}

/// What a legacy request stands in.
struct Standing {
    revision: Revision,
    session: Option<Arc<Session>>,
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
        if is_batch(&body) {
            return self.post_batch(&caller, &headers, &body).await;
        }
        match decode(&body, IdRule::Mcp) {
            Ok(Incoming::Request { id, method, params }) => {
                self.post_request(caller, &headers, Asked { id, method: &method, params }).await
            }
            Ok(other) => {
                let standing = self.standing(&caller, &headers)?;
                take(&standing, other);
                Ok(empty(StatusCode::ACCEPTED))
            }
            Err(error) => Err(unreadable(&error)),
        }
    }

    async fn post_request(&self, caller: H::Caller, headers: &HeaderMap, asked: Asked<'_>) -> Answered {
        if is_handshake(asked.method, asked.params) {
            return self.post_initialize(&caller, headers, &asked);
        }
        let era = match era_of(headers, &asked) {
            Ok(era) => era,
            Err(error) => return Ok(answered(Answer::error(&asked.id, &error, Revision::NEWEST))),
        };
        match era {
            (Era::Modern, meta) => {
                let id = asked.id.clone();
                match self.modern_request(caller, headers, asked, meta).await {
                    Ok((request, log)) => Ok(self.post_modern(request, log, Accept::of(headers)).await),
                    Err(error) => Ok(answered(Answer::error(&id, &error, Revision::NEWEST))),
                }
            }
            (Era::Legacy, meta) => self.post_legacy(caller, headers, asked, meta).await,
        }
    }

    fn post_initialize(&self, caller: &H::Caller, headers: &HeaderMap, asked: &Asked<'_>) -> Answered {
        let introduced = match Introduced::read(asked.params) {
            Ok(introduced) => introduced,
            Err(error) => return Ok(answered(Answer::error(&asked.id, &error, Revision::NEWEST_LEGACY))),
        };
        let frame = self.initialized(caller, &asked.id, introduced);
        let mut response = one(frame, Accept::of(headers));
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
        asked: Asked<'_>,
        meta: Meta,
    ) -> Result<(Request<H::Caller>, Arc<EventLog>), McpError> {
        headers::version_agrees(headers, &meta)?;
        let (revision, client) = meta.modern()?;
        let log = EventLog::new(0, Keeps::UntilRead);
        let outlet: Arc<dyn Outlet> =
            if Accept::of(headers).events { Arc::clone(&log) as _ } else { Arc::new(Nowhere) };
        let request = Request {
            caller,
            id: asked.id,
            method: asked.method.to_owned(),
            params: asked.params.map(ToOwned::to_owned),
            meta,
            revision,
            client,
            session: None,
            outlet,
            cancel: CancellationToken::new(),
        };
        headers::agree(headers, &request)?;
        if request.method == "tools/call" && self.inner.host.has_mirrored_arguments() {
            let tools = self.inner.host.tools(&request.caller).await?;
            headers::params_agree(headers, tools.mirrored(request.params.as_deref()), request.params.as_deref())?;
        }
        Ok((request, log))
    }

    async fn post_modern(&self, request: Request<H::Caller>, log: Arc<EventLog>, accept: Accept) -> Response<HttpBody> {
        // Dropped with the response: a client that goes away wants nothing more.
        let gone = request.cancel.clone().drop_guard();
        let server = self.clone();
        let mut work = Box::pin(async move { server.answer(&request).await });
        let quick = tokio::select! {
            biased;
            answer = &mut work => Some(answer),
            () = becomes_stream(&log), if accept.events => None,
        };
        match quick {
            Some(Some(answer)) if log.is_empty() && (accept.json || answer.status != 200) => answered(answer),
            Some(answer) => {
                log.finish(answer.map(|answer| answer.frame));
                events(EventBody::new(log.tail(), Ids::None, None))
            }
            None => {
                let reader = log.tail();
                let rest = async move {
                    let answer = work.await;
                    log.finish(answer.map(|answer| answer.frame));
                    drop(gone);
                };
                events(EventBody::new(reader, Ids::None, Some(Box::pin(rest))))
            }
        }
    }

    async fn post_legacy(&self, caller: H::Caller, headers: &HeaderMap, asked: Asked<'_>, meta: Meta) -> Answered {
        let accept = Accept::of(headers);
        let Standing { revision, session } = self.standing(&caller, headers)?;
        let run = match session.as_ref().map(|session| session.running.begin(&asked.id)).transpose() {
            Ok(run) => run,
            Err(why) => return Ok(answered(Answer::error(&asked.id, &why.into(), revision))),
        };
        let log = match &session {
            Some(session) => session.streams.prepare(),
            None => EventLog::new(0, Keeps::UntilRead),
        };
        let client = session.as_ref().map_or(ClientCapabilities::NONE, |session| session.client());
        let request = Request {
            caller,
            id: asked.id,
            method: asked.method.to_owned(),
            params: asked.params.map(ToOwned::to_owned),
            meta,
            revision,
            // Who takes no events cannot be asked.
            client: if accept.events { client } else { ClientCapabilities::NONE },
            session: session.clone(),
            outlet: if accept.events { Arc::clone(&log) as _ } else { Arc::new(Nowhere) },
            cancel: run.as_ref().map_or_else(CancellationToken::new, |run| run.token()),
        };
        // Opened before the work begins, or it would not notice that the work ended its connection.
        let reader = log.tail();
        let (server, told) = (self.clone(), Arc::clone(&log));
        let work = async move {
            let answer = server.answer(&request).await;
            told.finish(answer.map(|answer| answer.frame));
            drop(run);
        };
        let mut work = Detached::new(work, &self.inner.tracker);
        let is_done = tokio::select! {
            biased;
            () = &mut work => true,
            () = becomes_stream(&log), if accept.events => false,
        };
        Ok(match log.only() {
            Some(frame) if is_done && accept.json => whole(StatusCode::OK, frame.to_vec()),
            None if is_done && log.is_empty() => empty(StatusCode::ACCEPTED),
            _ => {
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

    /// Several messages at once, for the one revision that has that.
    async fn post_batch(&self, caller: &H::Caller, headers: &HeaderMap, body: &Bytes) -> Answered {
        let standing = self.standing(caller, headers)?;
        if !standing.revision.facts().batches {
            return Err(Refused::bad(&ErrorObject::invalid_request("this protocol version has no batches")));
        }
        let messages = decode_batch(body, IdRule::Mcp, MCP_BATCH).map_err(|error| unreadable(&error))?;
        let mut works = Vec::new();
        for message in messages {
            works.extend(self.batched_work(caller, &standing, message));
        }
        let log = EventLog::new(0, Keeps::UntilRead);
        let told = Arc::clone(&log);
        let work = async move {
            let answers = futures_util::future::join_all(works).await;
            told.finish(batched(answers.into_iter().flatten()));
        };
        Detached::new(work, &self.inner.tracker).await;
        Ok(match log.only() {
            Some(frame) => one(frame.to_vec(), Accept::of(headers)),
            None => empty(StatusCode::ACCEPTED),
        })
    }

    fn batched_work(
        &self,
        caller: &H::Caller,
        standing: &Standing,
        message: Result<Incoming<'_>, RpcError>,
    ) -> Option<impl Future<Output = Option<Vec<u8>>> + Send + use<H>> {
        let revision = standing.revision;
        let understood = match message {
            Ok(Incoming::Request { id, method, params }) if method != "initialize" => Meta::of(params)
                .map_err(|error| Answer::error(&id, &error, revision).frame)
                .map(|meta| Request {
                    caller: caller.clone(),
                    id,
                    method: method.into_owned(),
                    params: params.map(ToOwned::to_owned),
                    meta,
                    revision,
                    client: ClientCapabilities::NONE,
                    session: standing.session.clone(),
                    outlet: Arc::new(Nowhere),
                    cancel: CancellationToken::new(),
                }),
            Ok(Incoming::Request { id, .. }) => {
                Err(encode_error(Some(&id), &ErrorObject::invalid_request("initialize comes alone")))
            }
            Ok(other) => {
                take(standing, other);
                return None;
            }
            Err(error) => Err(encode_error(error.id(), &error.to_error_object())),
        };
        let server = self.clone();
        Some(async move {
            match understood {
                Ok(request) => server.answer(&request).await.map(|answer| answer.frame),
                Err(frame) => Some(frame),
            }
        })
    }

    /// The revision and the session of a legacy message.
    fn standing(&self, caller: &H::Caller, headers: &HeaderMap) -> Result<Standing, Refused> {
        let said = match single(headers, &PROTOCOL_VERSION)? {
            Some(name) => match Revision::named(name) {
                Some(revision) => Some(revision),
                None => {
                    let error = McpError::UnsupportedVersion(name.chars().take(64).collect());
                    return Err(Refused::bad(&error.to_object(Revision::NEWEST_LEGACY)));
                }
            },
            None => None,
        };
        // A modern message has no session, whatever else it says.
        if said.is_some_and(|revision| revision.era() == Era::Modern) {
            return Ok(Standing { revision: Revision::NEWEST, session: None });
        }
        match single(headers, &SESSION_ID)? {
            Some(id) => {
                let found = self.find_session(caller, id).ok_or_else(Refused::no_session)?;
                let session = Arc::clone(&found.http.session);
                Ok(Standing { revision: session.revision(), session: Some(session) })
            }
            None => Ok(Standing { revision: said.unwrap_or(Revision::UNSAID), session: None }),
        }
    }
}

/// Which era a request belongs to: what it says itself, then what its header says.
fn era_of(headers: &HeaderMap, asked: &Asked<'_>) -> Result<(Era, Meta), McpError> {
    let meta = Meta::of(asked.params)?;
    if meta.is_modern() || asked.method == "server/discover" {
        return Ok((Era::Modern, meta));
    }
    let said = headers.get(PROTOCOL_VERSION).and_then(|value| value.to_str().ok()).map(str::trim);
    match said.map(|name| (name, Revision::named(name))) {
        Some((_, Some(revision))) => Ok((revision.era(), meta)),
        // Newer than all we know, and written as they are.
        Some((name, None)) if is_date(name) && name > Revision::NEWEST_LEGACY.name() => {
            Err(McpError::UnsupportedVersion(name.to_owned()))
        }
        Some((_, None)) | None => Ok((Era::Legacy, meta)),
    }
}

fn is_date(name: &str) -> bool {
    name.len() == 10
        && name.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Takes what wants no answer.
fn take(standing: &Standing, message: Incoming<'_>) {
    let Some(session) = &standing.session else { return };
    match message {
        Incoming::Notification { method, params } => {
            crate::server::notifications::heard(&session.running, &method, params);
        }
        Incoming::Response { id, outcome } => session.answered(&id, outcome.map(ToOwned::to_owned)),
        Incoming::Request { .. } => {}
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

fn unreadable(error: &RpcError) -> Refused {
    Refused(Box::new(whole(StatusCode::BAD_REQUEST, encode_error(error.id(), &error.to_error_object()))))
}

fn answered(answer: Answer) -> Response<HttpBody> {
    whole(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK), answer.frame)
}

/// One message, in what the client takes.
fn one(frame: Vec<u8>, accept: Accept) -> Response<HttpBody> {
    if accept.json {
        return whole(StatusCode::OK, frame);
    }
    let log = EventLog::new(0, Keeps::UntilRead);
    log.finish(Some(frame));
    events(EventBody::new(log.tail(), Ids::None, None))
}
