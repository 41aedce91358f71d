//! What a response streams: what happens to a task as server-sent events, each with its id so that a reader can resume
//! after it, and comments in between so that nobody thinks it dead. The reader sets the pace: nothing is queued for it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use openfang_types::event::StreamItem;
use openfang_types::jsonrpc::{Id, encode_error, encode_result};

use crate::answer::{Shown, StreamHead};
use crate::dialect::{Dialect, In};
use crate::error::A2aError;
use crate::host::Follower;

/// Events, as they come. The stream ends with the last one.
pub struct EventBody {
    events: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
}

impl Stream for EventBody {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.events.as_mut().poll_next(cx)
    }
}

/// What each event is wrapped in.
pub(super) enum Wrapping {
    /// A response to this request.
    Rpc(Id),
    /// Nothing.
    Bare,
}

/// How a stream is written.
pub(super) struct Writing {
    pub(super) dialect: Dialect,
    pub(super) wrapping: Wrapping,
    pub(super) keep_alive: Duration,
}

struct Streaming {
    head: StreamHead,
    follower: Box<dyn Follower>,
    writing: Writing,
    is_over: bool,
}

impl EventBody {
    /// One event, and the end.
    pub(super) fn one(writing: &Writing, shown: Shown<'_>) -> Self {
        let event = writing.event(None, shown);
        Self { events: Box::pin(futures_util::stream::once(async move { event })) }
    }

    /// One frame that is ready, and the end.
    pub(super) fn last_word(frame: &[u8]) -> Self {
        let event = framed(None, frame);
        Self { events: Box::pin(futures_util::stream::once(async move { event })) }
    }

    /// What happens to a task, until it is over.
    pub(super) fn of(head: StreamHead, follower: Box<dyn Follower>, writing: Writing) -> Self {
        let streaming = Streaming { head, follower, writing, is_over: false };
        Self { events: Box::pin(futures_util::stream::unfold(streaming, Streaming::next)) }
    }
}

impl Streaming {
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
                    return Some((Bytes::from_static(b": the server stops; follow the task again later\n\n"), self));
                }
                Ok(Some(item)) => {
                    if self.writing.dialect == Dialect::V01 {
                        self.head.take_note(&item);
                    }
                    let shown = Shown::Item(&self.head, &item);
                    if self.writing.dialect.shows(shown) {
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
        StreamItem::Snapshot(task, seq) => Some(format!("{}:{seq}", task.id)),
        StreamItem::Event(event) => Some(event.stream_id()),
        StreamItem::Shutdown => None,
    }
}

impl Writing {
    fn event(&self, id: Option<String>, shown: Shown<'_>) -> Bytes {
        let shown = In(self.dialect, &shown);
        let data = match &self.wrapping {
            Wrapping::Rpc(id) => encode_result(id, &shown),
            Wrapping::Bare => serde_json::to_vec(&shown).unwrap_or_default(),
        };
        framed(id, &data)
    }

    fn failure(&self, error: &A2aError) -> Bytes {
        let data = match &self.wrapping {
            Wrapping::Rpc(id) => encode_error(Some(id), &self.dialect.error(error)),
            Wrapping::Bare => super::rest::error_body(self.dialect, error),
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
