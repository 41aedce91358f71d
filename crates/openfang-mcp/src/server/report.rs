//! How it goes: progress and log lines of one request, in the peer's revision, and its cancellation.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use openfang_types::call::{CallListener, LogLevel};
use openfang_types::jsonrpc::{Id, encode_notification};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::Request;
use super::outlet::{Nowhere, Outlet, Weight};
use super::running::RequestStop;
use crate::content::raw;
use crate::revision::Revision;

/// Tells a client how its request goes.
pub struct Reporter {
    outlet: Arc<dyn Outlet>,
    revision: Revision,
    token: Option<Id>,
    level: Option<LogLevel>,
    stop: RequestStop,
    reached: Mutex<f64>,
}

impl Reporter {
    pub(super) fn of<C>(request: &Request<C>) -> Self {
        let level = match (request.revision.facts().meta_required, &request.session) {
            (true, _) => request.meta.log_level,
            (false, Some(session)) => Some(session.level()),
            (false, None) => Some(LogLevel::Info),
        };
        Self {
            outlet: Arc::clone(&request.outlet),
            revision: request.revision,
            token: request.meta.progress_token.clone(),
            level,
            stop: request.stop.clone(),
            reached: Mutex::new(f64::NEG_INFINITY),
        }
    }

    /// For work that goes on after the answer to its request: nobody hears how it goes.
    pub(super) fn unheard<C>(request: &Request<C>) -> Self {
        Self { outlet: Arc::new(Nowhere), ..Self::of(request) }
    }

    /// Tells how far it is. Nothing is told to a client that did not ask, and nothing that is not further than before.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            progress_token: &'a Id,
            progress: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<&'a str>,
        }
        let Some(progress_token) = &self.token else { return };
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if progress <= *reached {
            return;
        }
        *reached = progress;
        let message = message.filter(|_| self.revision.facts().progress_messages);
        self.tell("notifications/progress", &Params { progress_token, progress, total, message });
    }

    /// Whether anybody hears [`Reporter::progress`].
    pub const fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    /// A log line, for a client that asked for its level.
    pub fn log<T: Serialize + ?Sized>(&self, level: LogLevel, logger: Option<&str>, data: &T) {
        #[derive(Serialize)]
        struct Params<'a, T: ?Sized> {
            level: LogLevel,
            #[serde(skip_serializing_if = "Option::is_none")]
            logger: Option<&'a str>,
            data: &'a T,
        }
        if self.hears(level) {
            self.tell("notifications/message", &Params { level, logger, data });
        }
    }

    /// From which level on somebody hears log lines.
    pub const fn level(&self) -> Option<LogLevel> {
        self.level
    }

    /// Whether anybody hears a log line of this level.
    pub fn hears(&self, level: LogLevel) -> bool {
        self.level.is_some_and(|wanted| level >= wanted)
    }

    /// Fires when the work is to stop.
    pub const fn cancel(&self) -> &CancellationToken {
        self.stop.canceled()
    }

    /// How the client stops the request.
    pub const fn stop(&self) -> &RequestStop {
        &self.stop
    }

    /// Ends the connection while the work goes on, where the client's revision and transport have a way to fetch the
    /// rest; elsewhere it does nothing.
    pub fn end_connection(&self) {
        if self.revision.facts().primed_streams {
            self.outlet.end_connection();
        }
    }

    fn tell(&self, method: &str, params: &impl Serialize) {
        let frame = encode_notification(method, Some(&raw(params)));
        // Left out when the client is slow: the next one says more.
        let _ = self.outlet.send(Bytes::from(frame), Weight::Light);
    }
}

impl CallListener for Reporter {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        Self::progress(self, progress, total, message);
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawValue) {
        Self::log(self, level, logger, data);
    }

    fn level(&self) -> Option<LogLevel> {
        Self::level(self)
    }

    fn wants_progress(&self) -> bool {
        Self::wants_progress(self)
    }
}
