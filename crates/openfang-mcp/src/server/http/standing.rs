//! What a message stands in: its era, its revision, its session. A request says itself what it is, then its header does.

use std::sync::Arc;

use http::HeaderMap;
use openfang_types::jsonrpc::Incoming;

use super::post::ClientRequest;
use super::{PROTOCOL_VERSION, Refused, SESSION_ID, single};
use crate::counts::UnknownId;
use crate::error::McpError;
use crate::host::Host;
use crate::meta::Meta;
use crate::revision::{Era, Revision};
use crate::server::Server;
use crate::server::notifications::heard;
use crate::server::params::{self, CallTarget};
use crate::server::session::Session;

/// What a legacy request stands in.
pub(super) struct LegacyContext {
    pub(super) revision: Revision,
    pub(super) session: Option<Arc<Session>>,
}

impl<H: Host> Server<H> {
    /// Takes what wants no answer.
    pub(super) fn take(&self, caller: &H::Caller, standing: &LegacyContext, message: Incoming<'_>) {
        let counts = &self.inner.shared.counts;
        match (message, &standing.session) {
            (Incoming::Notification { method, params }, Some(session)) => {
                heard(counts, &session.running, &method, params);
            }
            (Incoming::Response { id, outcome }, session) => {
                let credential = self.inner.host.credential(caller);
                let outcome = outcome.map(ToOwned::to_owned);
                if !session.as_ref().is_some_and(|session| session.answered(&credential, &id, outcome)) {
                    counts.add(UnknownId::ClientReply);
                }
            }
            (Incoming::Notification { .. }, None) | (Incoming::Request { .. }, _) => {}
        }
    }

    /// The revision and the session of a legacy message.
    pub(super) fn standing(&self, caller: &H::Caller, headers: &HeaderMap) -> Result<LegacyContext, Refused> {
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
        if said.is_some_and(|revision| !revision.facts().sessions) {
            return Ok(LegacyContext { revision: Revision::NEWEST, session: None });
        }
        match single(headers, &SESSION_ID)? {
            Some(id) => {
                let found = self.find_session(caller, id).map_err(Refused::no_session)?;
                let session = Arc::clone(&found.http.session);
                Ok(LegacyContext { revision: session.revision(), session: Some(session) })
            }
            None => Ok(LegacyContext { revision: said.unwrap_or(Revision::UNSAID), session: None }),
        }
    }
}

/// Which era a request belongs to: what it says itself, then what its header says.
pub(super) fn era_of(headers: &HeaderMap, asked: &ClientRequest<'_>) -> Result<(Era, (Meta, CallTarget)), McpError> {
    let (meta, named) = params::read(asked.params)?;
    if meta.is_modern() || asked.method == "server/discover" {
        return Ok((Era::Modern, (meta, named)));
    }
    let said = headers.get(PROTOCOL_VERSION).and_then(|value| value.to_str().ok()).map(str::trim);
    match said.map(|name| (name, Revision::named(name))) {
        Some((_, Some(revision))) => Ok((revision.era(), (meta, named))),
        // Newer than all we know, and written as they are.
        Some((name, None)) if is_date(name) && name > Revision::NEWEST_LEGACY.name() => {
            Err(McpError::UnsupportedVersion(name.to_owned()))
        }
        Some((_, None)) | None => Ok((Era::Legacy, (meta, named))),
    }
}

fn is_date(name: &str) -> bool {
    name.len() == 10
        && name.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
