//! The transport of 2024-11-05: one stream for everything the server says, and an address to post to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Response, StatusCode};
use openfang_types::jsonrpc::ErrorObject;
use openfang_types::limits::MAX_MCP_MESSAGE_SIZE;

use super::accept::is_json;
use super::post::held;
use super::stream::EventBody;
use super::{HttpBody, HttpRequest, Refused, empty, events};
use crate::counts::UnknownId;
use crate::host::Host;
use crate::server::Server;
use crate::server::duplex::Duplex;
use crate::server::event_log::EventLog;
use crate::server::sessions::NoSession;

/// The peers of this transport, by the secret in the address they post to.
pub(in crate::server) struct SsePeers<H: Host> {
    peers: Mutex<HashMap<String, Peer<H>>>,
}

struct Peer<H: Host> {
    owner: String,
    duplex: Arc<Duplex<H>>,
    out: Arc<EventLog>,
}

impl<H: Host> Default for SsePeers<H> {
    fn default() -> Self {
        Self { peers: Mutex::default() }
    }
}

impl<H: Host> SsePeers<H> {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Peer<H>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the conversation when its stream goes.
struct Farewell<H: Host> {
    server: Server<H>,
    secret: String,
}

impl<H: Host> Drop for Farewell<H> {
    fn drop(&mut self) {
        let peer = self.server.inner.sse_peers.lock().remove(&self.secret);
        if let Some(peer) = peer {
            peer.duplex.end();
            peer.out.finish(None);
        }
    }
}

impl<H: Host> Server<H> {
    /// `GET /sse`: the stream. Its first event is the address to post to, below `post_path`.
    pub fn open_sse(&self, caller: H::Caller, post_path: &str) -> Response<HttpBody> {
        let mut secret = [0_u8; 16];
        if getrandom::fill(&mut secret).is_err() {
            return *Refused::new(StatusCode::SERVICE_UNAVAILABLE, &ErrorObject::internal_error()).0;
        }
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let owner = self.inner.host.owner(&caller);
        let out = EventLog::queue();
        let duplex = Arc::new(Duplex::new(self.clone(), &caller, Arc::clone(&out)));
        {
            let mut peers = self.inner.sse_peers.lock();
            let owned = peers.values().filter(|peer| peer.owner == owner).count();
            if !self.inner.shared.sse_peers.admits(owned, peers.len(), 1) {
                return *Refused::too_many("this user has too many streams open; close one").0;
            }
            peers.insert(secret.clone(), Peer { owner, duplex, out: Arc::clone(&out) });
        }
        let first = Bytes::from(format!("event: endpoint\ndata: {post_path}?sessionId={secret}\n\n"));
        let farewell = Farewell { server: self.clone(), secret };
        let held = async move {
            let _farewell = farewell;
            std::future::pending::<()>().await;
        };
        events(EventBody::beginning_with(first, &out, Box::pin(held)).until(self.inner.stop.clone()))
    }

    /// `POST /messages?sessionId=...`: a message of a peer, answered on its stream.
    pub fn post_sse(&self, request: &HttpRequest<H::Caller>, secret: &str) -> Response<HttpBody> {
        if !is_json(&request.headers) {
            let error = ErrorObject::invalid_request("the body must be application/json");
            return *Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error).0;
        }
        if request.body.len() > MAX_MCP_MESSAGE_SIZE {
            let error = ErrorObject::invalid_request("the message is larger than 10 MiB");
            return *Refused::new(StatusCode::PAYLOAD_TOO_LARGE, &error).0;
        }
        let owner = self.inner.host.owner(&request.caller);
        let duplex = {
            let peers = self.inner.sse_peers.lock();
            peers.get(secret).filter(|peer| peer.owner == owner).map(|peer| Arc::clone(&peer.duplex))
        };
        match duplex {
            Some(duplex) if duplex.is_full() => {
                let error = ErrorObject::invalid_request("the answers are not read; read the stream, then go on");
                *Refused::new(StatusCode::SERVICE_UNAVAILABLE, &error).0
            }
            Some(duplex) => {
                duplex.accept(&request.caller, &request.body, held(&request.body));
                empty(StatusCode::ACCEPTED)
            }
            None => {
                self.inner.shared.counts.add(UnknownId::Session);
                *Refused::no_session(NoSession::Unknown).0
            }
        }
    }
}
