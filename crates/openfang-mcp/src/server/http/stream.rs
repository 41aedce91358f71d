//! What a response streams: messages as server-sent events, with comments in between so that nobody thinks it dead.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use openfang_types::limits::{MCP_KEEP_ALIVE, MCP_RETRY};

use tokio_util::sync::CancellationToken;

use super::super::event_log::{EventLog, EventReader};

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    /// Without ids: nothing can be resumed.
    None,
    Each,
    /// With ids, and a first event to resume from that says nothing else.
    Primed,
}

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

/// Work that is dropped with the body, and so stops when the client goes away.
pub(super) type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Streaming {
    reader: EventReader,
    ids: Ids,
    beside: Option<Beside>,
    first: Option<Bytes>,
}

impl EventBody {
    /// The events of a log from where its reader stands, while `beside` goes on.
    pub(super) fn new(reader: EventReader, ids: Ids, beside: Option<Beside>) -> Self {
        let first = (ids == Ids::Primed).then(|| priming(&reader));
        Self::of(Streaming { reader, ids, beside, first })
    }

    /// A stream that begins with one event of another name.
    pub(super) fn beginning_with(first: Bytes, log: &Arc<EventLog>, beside: Beside) -> Self {
        Self::of(Streaming { reader: log.tail(), ids: Ids::None, beside: Some(beside), first: Some(first) })
    }

    fn of(streaming: Streaming) -> Self {
        Self { events: Box::pin(futures_util::stream::unfold(streaming, Streaming::next)) }
    }

    /// Ends when the server stops; for a stream that has no end of its own.
    pub(super) fn until(self, stop: CancellationToken) -> Self {
        let events = futures_util::stream::unfold((self.events, stop), |(mut events, stop)| async move {
            let next = stop.run_until_cancelled(events.next()).await??;
            Some((next, (events, stop)))
        });
        Self { events: Box::pin(events) }
    }
}

impl Streaming {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(first) = self.first.take() {
            return Some((first, self));
        }
        loop {
            let event = tokio::select! {
                biased;
                event = self.reader.next() => event,
                () = working(&mut self.beside) => {
                    self.beside = None;
                    continue;
                }
                () = tokio::time::sleep(MCP_KEEP_ALIVE) => return Some((Bytes::from_static(b": keep-alive\n\n"), self)),
            };
            let (seq, frame) = event?;
            let written = self.written(seq, &frame);
            return Some((written, self));
        }
    }

    fn written(&self, seq: u64, frame: &[u8]) -> Bytes {
        let mut event = Vec::with_capacity(frame.len() + 64);
        if self.ids != Ids::None {
            event.extend_from_slice(format!("id: {}\n", self.reader.log().id_of(seq)).as_bytes());
        }
        event.extend_from_slice(b"event: message\ndata: ");
        event.extend_from_slice(frame);
        event.extend_from_slice(b"\n\n");
        Bytes::from(event)
    }
}

async fn working(beside: &mut Option<Beside>) {
    match beside {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

/// An event without data to resume from, and how long to wait before doing so.
fn priming(reader: &EventReader) -> Bytes {
    Bytes::from(format!("id: {}\nretry: {}\ndata: \n\n", reader.place(), MCP_RETRY.as_millis()))
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
