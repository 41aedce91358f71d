//! The events of an agent's stream, read one by one. A single answer in the place of a stream is a stream of one event.

use std::sync::Arc;

use jiff::Timestamp;
use openfang_egress::http::{Events, Response};
use openfang_egress::sse::{Event, SseLimits};
use openfang_types::ids::TaskName;
use openfang_types::limits::{A2A_CLIENT_EVENT_BYTES, A2A_CLIENT_EVENTS, A2A_INLINE_READ_BYTES};
use openfang_types::redact::Redactor;
use tokio::task::{JoinHandle, spawn_blocking};

use super::error::ClientError;
use crate::dialect::{Dialect, PeerResponse, ReadContext};
use crate::peer::{AnswerError, PeerEvent};

/// A stream of events.
pub(super) struct EventStream {
    source: Source,
    /// An event that is being read on a thread of its own.
    reading: Option<Reading>,
}

enum Source {
    Events { events: Box<Events>, dialect: Dialect, redactor: Arc<Redactor> },
    Single(Option<Box<PeerEvent>>),
}

struct Reading {
    id: Option<String>,
    event: JoinHandle<Result<PeerEvent, AnswerError>>,
}

/// One event as read from the stream.
#[derive(Debug)]
pub(super) struct Received {
    /// The id that the peer gave to the event.
    pub(super) id: Option<String>,
    /// The event, or why it cannot be used.
    pub(super) event: Result<PeerEvent, AnswerError>,
}

impl EventStream {
    pub(super) fn of(response: Response, dialect: Dialect, redactor: Arc<Redactor>) -> Self {
        let limits = SseLimits { event_bytes: A2A_CLIENT_EVENT_BYTES, events: A2A_CLIENT_EVENTS };
        let events = Box::new(response.body.events(limits));
        Self { source: Source::Events { events, dialect, redactor }, reading: None }
    }

    pub(super) fn single(event: PeerEvent) -> Self {
        Self { source: Source::Single(Some(Box::new(event))), reading: None }
    }

    /// The next event; none at the end. The future can be dropped at any time.
    pub(super) async fn next(&mut self, task: Option<&TaskName>) -> Result<Option<Received>, ClientError> {
        let (events, dialect, redactor) = match &mut self.source {
            Source::Single(event) => return Ok(event.take().map(|event| Received { id: None, event: Ok(*event) })),
            Source::Events { events, dialect, redactor } => (events, *dialect, redactor),
        };
        loop {
            if let Some(reading) = &mut self.reading {
                let event = (&mut reading.event).await.unwrap_or_else(|_| Err(abandoned()));
                let id = reading.id.take();
                self.reading = None;
                return Ok(Some(Received { id, event }));
            }
            let Some(mut event) = events.next().await.map_err(|error| ClientError::transport(&error))? else {
                return Ok(None);
            };
            // The parser drops comments. Some servers send empty events to keep the connection alive.
            if event.data.trim().is_empty() {
                continue;
            }
            let id = event.id.take();
            if event.data.len() <= A2A_INLINE_READ_BYTES {
                return Ok(Some(Received { id, event: read(&event, dialect, redactor, task) }));
            }
            let (redactor, task) = (Arc::clone(redactor), task.cloned());
            let event = spawn_blocking(move || read(&event, dialect, &redactor, task.as_ref()));
            self.reading = Some(Reading { id, event });
        }
    }
}

fn abandoned() -> AnswerError {
    AnswerError::Unreadable { at: String::new(), why: "reading it was abandoned".to_owned() }
}

fn read(
    event: &Event,
    dialect: Dialect,
    redactor: &Redactor,
    task: Option<&TaskName>,
) -> Result<PeerEvent, AnswerError> {
    let data = redactor.json(event.data.as_bytes());
    let is_error = event.name.eq_ignore_ascii_case("error");
    let received = PeerResponse { body: &data, status: None, is_error };
    dialect.read_event(&received, &ReadContext { now: Timestamp::now(), task })
}
