//! GET and DELETE: the stream of a session, resuming one, and ending it. The modern era has neither.

use std::sync::Arc;

use http::{Response, StatusCode};

use super::stream::Ids;
use super::{
    EventBody, HttpBody, HttpRequest, LAST_EVENT_ID, PROTOCOL_VERSION, Refused, SESSION_ID, empty, events, single,
};
use crate::host::Host;
use crate::revision::Revision;
use crate::server::Server;
use crate::server::sessions::NoSession;

impl<H: Host> Server<H> {
    /// Opens the session's own stream, or resumes one that was cut off.
    pub(super) fn get_stream(&self, request: &HttpRequest<H::Caller>) -> Result<Response<HttpBody>, Refused> {
        let found = match legacy_session(request)? {
            Some(id) => self.find_session(&request.caller, id).map_err(Refused::no_session)?,
            None => return Err(Refused::method()),
        };
        if !found.has_streams {
            return Err(Refused::no_session(NoSession::Unknown));
        }
        let http = found.http;
        let facts = http.session.revision().facts();
        let last = single(&request.headers, &LAST_EVENT_ID)?.filter(|id| !id.is_empty());
        let resumes = last.is_some_and(|id| !id.starts_with(STANDALONE));
        let reader = match last {
            None => http.standalone.next_reader(),
            Some(id) => resumed(&http, id).ok_or_else(|| Refused::no_session(NoSession::Unknown))?,
        };
        self.watch_lists(&request.caller, &http.session);
        let ids = if facts.primed_streams { Ids::Primed } else { Ids::Each };
        let body = EventBody::new(reader, ids, None);
        // What answers a request is still told; what belongs to none could be waited for for ever.
        Ok(events(if resumes { body } else { body.until(self.inner.stop.clone()) }))
    }

    pub(super) async fn delete_session(&self, request: &HttpRequest<H::Caller>) -> Result<Response<HttpBody>, Refused> {
        let id = legacy_session(request)?.ok_or_else(Refused::method)?;
        if self.end_session(&request.caller, id).await {
            Ok(empty(StatusCode::OK))
        } else {
            Err(Refused::no_session(NoSession::Unknown))
        }
    }
}

/// What the ids of the session's own stream begin with.
const STANDALONE: &str = "0-";

fn resumed(
    http: &Arc<crate::server::sessions::HttpSession>,
    id: &str,
) -> Option<crate::server::event_log::EventReader> {
    match id.strip_prefix(STANDALONE) {
        Some(seq) => http.standalone.reader(seq.parse().ok()?),
        None => http.session.streams.find(id),
    }
}

/// The session id of a request that is not a modern one.
fn legacy_session<C>(request: &HttpRequest<C>) -> Result<Option<&str>, Refused> {
    let version = single(&request.headers, &PROTOCOL_VERSION)?;
    let has_none = version.and_then(Revision::named).is_some_and(|revision| !revision.facts().sessions);
    if has_none { Ok(None) } else { single(&request.headers, &SESSION_ID) }
}
