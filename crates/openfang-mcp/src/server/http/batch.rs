//! Several messages in one POST, for the one revision that has that. They are worked on beside each other.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use openfang_types::jsonrpc::{ErrorObject, IdRule, Incoming, RpcError, decode_batch, encode_error};
use openfang_types::limits::MCP_BATCH;

use super::accept::Accept;
use super::detached::Detached;
use super::post::{Answered, held, one, unreadable};
use super::standing::LegacyContext;
use super::{Refused, empty};
use crate::capabilities::ClientCapabilities;
use crate::host::Host;
use crate::server::duplex::batched;
use crate::server::outlet::Nowhere;
use crate::server::params;
use crate::server::running::RequestStop;
use crate::server::{Answer, Request, Server};

impl<H: Host> Server<H> {
    /// Several messages at once, for the one revision that has that.
    pub(super) async fn post_batch(&self, caller: &H::Caller, headers: &HeaderMap, body: &Bytes) -> Answered {
        let standing = self.standing(caller, headers)?;
        if !standing.revision.facts().batches {
            return Err(Refused::bad(&ErrorObject::invalid_request("this protocol version has no batches")));
        }
        let messages = decode_batch(body, IdRule::Mcp, MCP_BATCH).map_err(|error| unreadable(&error))?;
        let mut works = Vec::new();
        for message in messages {
            works.extend(self.batched_work(caller, &standing, message));
        }
        let held = held(body);
        let work = async move {
            let _held = held;
            batched(futures_util::future::join_all(works).await.into_iter().flatten())
        };
        Ok(match Detached::begin(work, drop, &self.inner.tracker).await.outcome().await {
            Some(frame) => one(frame, Accept::of(headers)),
            None => empty(StatusCode::ACCEPTED),
        })
    }

    fn batched_work(
        &self,
        caller: &H::Caller,
        standing: &LegacyContext,
        message: Result<Incoming<'_>, RpcError>,
    ) -> Option<impl Future<Output = Option<Bytes>> + Send + use<H>> {
        let revision = standing.revision;
        let understood = match message {
            Ok(Incoming::Request { id, method, params }) if method != "initialize" => params::read(params)
                .map_err(|error| Answer::error(&id, &error, revision).frame.into_bytes())
                .map(|(meta, named)| Request {
                    caller: caller.clone(),
                    id,
                    method: method.into_owned(),
                    params: params.map(ToOwned::to_owned),
                    named,
                    meta,
                    revision,
                    client: ClientCapabilities::NONE,
                    session: standing.session.clone(),
                    outlet: Arc::new(Nowhere),
                    stop: RequestStop::default(),
                }),
            Ok(Incoming::Request { id, .. }) => {
                Err(encode_error(Some(&id), &ErrorObject::invalid_request("initialize comes alone")).into())
            }
            Ok(other) => {
                self.take(caller, standing, other);
                return None;
            }
            Err(error) => Err(encode_error(error.id(), &error.to_error_object()).into()),
        };
        let begun = understood.and_then(|mut request| {
            let Some(session) = &standing.session else { return Ok((request, None)) };
            let run = session.running.begin(&request.id);
            let run = run.map_err(|why| Answer::error(&request.id, &why.into(), revision).frame.into_bytes())?;
            request.stop = run.stop();
            Ok((request, Some(run)))
        });
        let server = self.clone();
        Some(async move {
            match begun {
                Ok((request, _run)) => server.answer(&request).await.map(|answer| answer.frame.into_bytes()),
                Err(frame) => Some(frame),
            }
        })
    }
}
