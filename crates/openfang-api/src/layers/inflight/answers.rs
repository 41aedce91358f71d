//! Large answers: they count from before what they show is read, and until they are written, however slowly their reader
//! takes them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use http::header::RETRY_AFTER;
use hyper::body::{Frame, SizeHint};
use openfang_kernel::AnswerRoom;
use openfang_types::limits::{ANSWER_ROOM_WAIT, INFLIGHT_FROM_BYTES, INFLIGHT_PIECE_BYTES, TOO_MUCH_PAUSE};
use openfang_types::principal::Principal;
use tokio_util::sync::PollSemaphore;

use super::{Inflight, Load};
use crate::layers::lane;

/// What the answer to one request takes. Given back when the answer was written, or by whoever still works for it.
pub(in crate::layers) struct Room {
    inflight: Arc<Inflight>,
    /// Whose it is.
    principal: Arc<Principal>,
    bytes: AtomicUsize,
    /// Whether there was none when it was asked for.
    is_refused: AtomicBool,
}

impl Inflight {
    /// The room of a request's answer: nothing yet.
    pub(in crate::layers) fn room(self: &Arc<Self>, principal: &Arc<Principal>) -> Arc<Room> {
        let (bytes, is_refused) = (AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Room { inflight: Arc::clone(self), principal: Arc::clone(principal), bytes, is_refused })
    }
}

impl Room {
    /// Whether it holds something large.
    pub(in crate::layers) fn is_large(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= INFLIGHT_FROM_BYTES
    }

    fn try_take(&self, bytes: usize) -> bool {
        let is_taken = self.inflight.add(self.principal.owner(), bytes, true).is_ok();
        if is_taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        is_taken
    }

    async fn wait_for(&self, bytes: usize) {
        loop {
            let mut freed = std::pin::pin!(self.inflight.freed.notified());
            // Before the look: what is given back between the two is not missed.
            freed.as_mut().enable();
            if self.try_take(bytes) {
                return;
            }
            freed.await;
        }
    }

    /// What is there has happened, so it is never refused.
    fn add(&self, bytes: usize) {
        if bytes > 0 {
            let _ = self.inflight.add(self.principal.owner(), bytes, false);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// From now on the answer takes so much.
    fn set(&self, bytes: usize) {
        let before = self.bytes.load(Ordering::Relaxed);
        self.add(bytes.saturating_sub(before));
        self.give_back(before.saturating_sub(bytes));
    }
}

impl AnswerRoom for Room {
    fn take(&self, bytes: usize) -> BoxFuture<'_, bool> {
        // Whatever can be stored can be read by somebody who reads nothing else.
        let bytes = bytes.min(self.inflight.quota().per_owner());
        if self.try_take(bytes) {
            return std::future::ready(true).boxed();
        }
        async move {
            let is_taken = tokio::time::timeout(ANSWER_ROOM_WAIT, self.wait_for(bytes)).await.is_ok();
            if !is_taken {
                self.is_refused.store(true, Ordering::Relaxed);
            }
            is_taken
        }
        .boxed()
    }

    fn give_back(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let taken = self
            .bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_sub(bytes)));
        let taken = taken.unwrap_or_default().min(bytes);
        if taken > 0 {
            self.inflight.give_back(self.principal.owner(), taken);
        }
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        if bytes > 0 {
            self.inflight.give_back(self.principal.owner(), bytes);
        }
    }
}

/// The answer to a request. A large one, and each large event of a stream, counts until it is written; so does the
/// request itself.
pub(in crate::layers) fn counted(
    mut response: Response,
    room: Arc<Room>,
    load: Option<Arc<Load>>,
    turns: &PollSemaphore,
) -> Response {
    if room.is_refused.load(Ordering::Relaxed) {
        let pause = HeaderValue::from(TOO_MUCH_PAUSE.as_secs());
        response.headers_mut().entry(RETRY_AFTER).or_insert(pause);
    }
    let size = response.body().size_hint().exact();
    let is_small = size.is_some_and(|size| size < INFLIGHT_FROM_BYTES as u64);
    if let Some(size) = size {
        // It is rendered, and what was read for it is gone. Over HTTP/2 nobody may ever ask for its first piece, so it
        // counts from here on.
        room.set(if is_small { 0 } else { usize::try_from(size).unwrap_or(usize::MAX) });
    }
    // A request that is answered whole is done, and what it took is free as soon as its body is.
    let load = load.filter(|load| load.is_large() || (!is_small && load.counts()));
    if is_small && load.is_none() {
        return response;
    }
    let counts_frames = size.is_none();
    let turns = turns.clone();
    let counted = |body| Counted { body, room, _request: load, turns, counts_frames, rest: Bytes::new(), piece: 0 };
    response.map(|body| Body::new(counted(body)))
}

/// A body whose large pieces count until they are written. They are handed on a little at a time: the connection takes
/// the next one when it has sent the last.
struct Counted {
    body: Body,
    room: Arc<Room>,
    /// The request, if it is large.
    _request: Option<Arc<Load>>,
    /// Large pieces of a stream are rendered beside the workers too.
    turns: PollSemaphore,
    /// Whether each piece counts by itself; else the whole was counted when it was made.
    counts_frames: bool,
    rest: Bytes,
    /// Bytes that count for what is being handed on.
    piece: usize,
}

impl Counted {
    fn next_of_rest(&mut self) -> Frame<Bytes> {
        Frame::data(self.rest.split_to(self.rest.len().min(INFLIGHT_PIECE_BYTES)))
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.counts_frames || !self.room.is_large() || !lane::can_leave() {
            return Pin::new(&mut self.body).poll_frame(cx);
        }
        let turn = ready!(self.turns.poll_acquire(cx));
        let polled = tokio::task::block_in_place(|| Pin::new(&mut self.body).poll_frame(cx));
        drop(turn);
        polled
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.next_of_rest())));
        }
        let piece = std::mem::take(&mut self.piece);
        self.room.give_back(piece);
        let frame = ready!(self.poll_body(cx));
        let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
        match frame.into_data() {
            Ok(data) if data.len() >= INFLIGHT_FROM_BYTES => {
                if self.counts_frames {
                    self.room.add(data.len());
                }
                (self.piece, self.rest) = (data.len(), data);
                Poll::Ready(Some(Ok(self.next_of_rest())))
            }
            Ok(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Err(frame) => Poll::Ready(Some(Ok(frame))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // A run may still hold the caller, and with it the room.
        self.room.set(0);
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
