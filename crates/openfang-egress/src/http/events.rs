//! A body read as server-sent events.

use std::fmt;
use std::time::Duration;

use super::{Body, HttpError};
use crate::sse::{Event, Parser, SseLimits};

/// A stream of events; the connection closes when it is dropped.
pub struct Events {
    body: Body,
    parser: Parser,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Events").field(&self.body).finish()
    }
}

impl Events {
    pub(super) fn new(body: Body, limits: SseLimits) -> Self {
        Self { body, parser: Parser::new(limits) }
    }

    /// The next event; none when the stream has ended. Safe to drop at any time.
    pub async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            let event = self.parser.next_event();
            if let Some(event) =
                event.map_err(|cause| HttpError::Events { origin: self.body.origin().clone(), cause })?
            {
                return Ok(Some(event));
            }
            match self.body.chunk().await? {
                Some(bytes) => self.parser.push(bytes),
                None => return Ok(None),
            }
        }
    }

    /// How long the server wants us to wait before we connect again, if it said so.
    pub const fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }
}
