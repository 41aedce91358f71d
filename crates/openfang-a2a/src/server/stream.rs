//! Event streams: the changes of a task as server-sent events. Each event has an id, so that a client can resume after
//! it. Comments keep an idle connection open. The client sets the pace: nothing is queued for it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use openfang_types::event::{EventId, StreamItem};
use openfang_types::jsonrpc::{Id, encode_error, encode_result};

use crate::answer::{StreamEvent, StreamHead};
use crate::dialect::{Dialect, InDialect};
use crate::error::A2aError;
use crate::host::Follower;

/// A stream of server-sent events. It ends after the last event.
pub struct SseBody {
    events: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
}

impl Stream for SseBody {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.events.as_mut().poll_next(cx)
    }
}

/// The envelope of each event.
pub(super) enum EventEnvelope {
    /// A JSON-RPC response to this request.
    Rpc(Id),
    /// No envelope at all.
    Bare,
}

/// The format of a stream.
pub(super) struct EventFormat {
    pub(super) dialect: Dialect,
    pub(super) wrapping: EventEnvelope,
    pub(super) keep_alive: Duration,
}

struct StreamState {
    head: StreamHead,
    follower: Box<dyn Follower>,
    writing: EventFormat,
    is_over: bool,
}

impl SseBody {
    /// A stream of one event.
    pub(super) fn one(writing: &EventFormat, shown: StreamEvent<'_>) -> Self {
        let event = writing.event(None, shown);
        Self { events: Box::pin(futures_util::stream::once(async move { event })) }
    }

    /// A stream of one encoded frame.
    pub(super) fn single_frame(frame: &[u8]) -> Self {
        let event = framed(None, frame);
        Self { events: Box::pin(futures_util::stream::once(async move { event })) }
    }

    /// The changes of a task until its end.
    pub(super) fn of(head: StreamHead, follower: Box<dyn Follower>, writing: EventFormat) -> Self {
        let streaming = StreamState { head, follower, writing, is_over: false };
        Self { events: Box::pin(futures_util::stream::unfold(streaming, StreamState::next)) }
    }
}

impl StreamState {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if self.is_over {
            return None;
        }
        loop {
            let item = tokio::select! {
                biased;
                item = self.follower.next() => item,
                () = tokio::time::sleep(self.writing.keep_alive) => {
                    return Some((Bytes::from_static(b": keep-alive\n\n"), self));
                }
            };
            match item {
                Ok(None) => return None,
                Ok(Some(StreamItem::Shutdown)) => {
                    self.is_over = true;
                    return Some((Bytes::from_static(b": the server is stopping; subscribe again later\n\n"), self));
                }
                Ok(Some(item)) => {
                    if self.writing.dialect == Dialect::V01 {
                        self.head.record_artifacts(&item);
                    }
                    let shown = StreamEvent::Item(&self.head, &item);
                    if self.writing.dialect.can_write(shown) {
                        let event = self.writing.event(event_id(&item), shown);
                        return Some((event, self));
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    return Some((self.writing.failure(&error), self));
                }
            }
        }
    }
}

fn event_id(item: &StreamItem) -> Option<String> {
    match item {
        StreamItem::Snapshot(task, seq) => Some(EventId { task: task.id, seq: *seq }.to_string()),
        StreamItem::Event(event) => Some(event.stream_id()),
        StreamItem::Shutdown => None,
    }
}

impl EventFormat {
    fn event(&self, id: Option<String>, shown: StreamEvent<'_>) -> Bytes {
        let shown = InDialect(self.dialect, &shown);
        let data = match &self.wrapping {
            EventEnvelope::Rpc(id) => encode_result(id, &shown),
            EventEnvelope::Bare => serde_json::to_vec(&shown).unwrap_or_default(),
        };
        framed(id, &data)
    }

    fn failure(&self, error: &A2aError) -> Bytes {
        let data = match &self.wrapping {
            EventEnvelope::Rpc(id) => encode_error(Some(id), &self.dialect.error(error)),
            EventEnvelope::Bare => super::rest::error_body(self.dialect, error),
        };
        framed(None, &data)
    }
}

fn framed(id: Option<String>, data: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(data.len() + 80);
    if let Some(id) = id {
        event.extend_from_slice(b"id: ");
        event.extend_from_slice(id.as_bytes());
        event.push(b'\n');
    }
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(data);
    event.extend_from_slice(b"\n\n");
    Bytes::from(event)
}
