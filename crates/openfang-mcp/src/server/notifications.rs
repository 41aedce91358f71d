//! What a peer tells without wanting an answer, and the small requests that only change what is told.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::running::Running;
use super::{Request, Server};
use crate::counts::{Counts, UnknownId};
use crate::error::McpError;
use crate::host::Host;
use crate::meta::LogLevel;
use crate::relaying::canceled;

impl<H: Host> Server<H> {
    /// `logging/setLevel`. Without a session there is nothing to remember it by.
    pub(super) fn set_level(&self, request: &Request<H::Caller>) -> Result<(), McpError> {
        #[derive(Deserialize)]
        struct Params {
            level: LogLevel,
        }
        let wrong = || McpError::InvalidParams("logging/setLevel takes a level such as \"info\"".to_owned());
        let params = request.params().ok_or_else(wrong)?;
        let params: Params = serde_json::from_str(params.get()).map_err(|_| wrong())?;
        if let Some(session) = &request.session {
            session.set_level(params.level);
        }
        Ok(())
    }
}

/// Takes a notification. One that means nothing to us is ignored, as JSON-RPC wants it; a cancel of nothing is counted.
pub(super) fn heard(counts: &Counts, running: &Running, method: &str, params: Option<&RawValue>) {
    if let Some((id, reason)) = canceled(method, params)
        && !running.stop(&id, reason)
    {
        counts.add(UnknownId::Request);
    }
}
