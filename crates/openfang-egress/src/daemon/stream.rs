//! An answer that is an event stream.

use std::time::Duration;

use http::{Response, StatusCode, header};
use hyper::body::Incoming;
use openfang_types::limits::DAEMON_EVENT_MAX_BYTES;

use super::connection::Connection;
use super::{Answer, DaemonError, Event};
use crate::sse::{Parser, SseLimits};

/// The media type of event streams.
pub(super) const MEDIA_TYPE: &str = "text/event-stream";

/// The answer to a request for a stream.
pub enum Streamed {
    Events(Box<EventStream>),
    /// Another answer, such as an error.
    Answer(Answer),
}

/// An event stream. The connection is driven while [`EventStream::next`] is awaited, and closes when this is dropped.
pub struct EventStream {
    connection: Connection,
    body: Incoming,
    parser: Parser,
}

impl EventStream {
    pub(super) fn new(connection: Connection, body: Incoming) -> Self {
        // A stream lasts as long as its task, so only the size of an event is limited.
        let limits = SseLimits { event_bytes: DAEMON_EVENT_MAX_BYTES, events: u64::MAX };
        Self { connection, body, parser: Parser::new(limits) }
    }

    /// How long the daemon wants a client to wait before it resumes the stream.
    pub const fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }

    /// The next event; none when the daemon has ended the stream. The future can be dropped at any time.
    pub async fn next(&mut self) -> Result<Option<Event>, DaemonError> {
        loop {
            if let Some(event) = self.parser.next_event()? {
                self.connection.tracer().event(&event);
                return Ok(Some(event));
            }
            match self.connection.chunk(&mut self.body).await? {
                Some(bytes) => self.parser.push(bytes),
                None => return Ok(None),
            }
        }
    }
}

pub(super) fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    response.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with(MEDIA_TYPE))
}
