//! A body read as server-sent events.

use std::fmt;
use std::time::Duration;

use super::{Body, HttpError};
use crate::pace::SharedPace;
use crate::sse::{Event, Parser, SseLimits};

/// A stream of events; the connection closes when it is dropped.
pub struct Events {
    body: Body,
    parser: Parser,
    pace: Option<SharedPace>,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Events").field(&self.body).finish()
    }
}

impl Events {
    pub(super) fn new(body: Body, limits: SseLimits) -> Self {
        Self { body, parser: Parser::new(limits), pace: None }
    }

    /// Limits the read rate. The reader gives back the bytes it asked for.
    #[must_use]
    pub fn paced(mut self, pace: SharedPace) -> Self {
        self.pace = Some(pace);
        self
    }

    /// The next event; none at the end of the stream. The future can be dropped at any time.
    pub async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            let event = self.parser.next_event();
            if let Some(event) =
                event.map_err(|cause| HttpError::Events { origin: self.body.origin().clone(), cause })?
            {
                return Ok(Some(event));
            }
            match self.body.chunk().await? {
                Some(bytes) => {
                    let length = bytes.len() as u64;
                    // Pushed before the wait, during which the future may be dropped.
                    self.parser.push(bytes);
                    if let Some(pace) = &self.pace {
                        pace.spend(length).await;
                    }
                }
                None => return Ok(None),
            }
        }
    }

    /// The reconnection delay the server asked for, if any.
    pub const fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }
}
