//! Large answers count from before their content is read until they are written, however slowly the client reads.

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
use tokio::sync::Semaphore;
use tokio_util::sync::PollSemaphore;

use super::{Inflight, Load};
use crate::layers::lane;

/// The memory of one answer. Released when the answer is written, or when the work for it ends.
pub(in crate::layers) struct Room {
    inflight: Arc<Inflight>,
    principal: Arc<Principal>,
    bytes: AtomicUsize,
    /// Whether there was no room when it was requested.
    is_refused: AtomicBool,
}

impl Inflight {
    /// The room of a request's answer, initially empty.
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

    /// The turn of the owner.
    pub(in crate::layers) fn owner_turn(&self) -> Arc<Semaphore> {
        self.inflight.turn_of(self.principal.owner())
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
            // Enabled before the check, so that no release in between is missed.
            freed.as_mut().enable();
            if self.try_take(bytes) {
                return;
            }
            freed.await;
        }
    }

    /// Counts content whose effects have already happened, so it is never refused.
    fn add(&self, bytes: usize) {
        if bytes > 0 {
            let _ = self.inflight.add(self.principal.owner(), bytes, false);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Sets the size of the answer.
    fn set(&self, bytes: usize) {
        let before = self.bytes.load(Ordering::Relaxed);
        self.add(bytes.saturating_sub(before));
        self.give_back(before.saturating_sub(bytes));
    }
}

impl AnswerRoom for Room {
    fn take(&self, bytes: usize) -> BoxFuture<'_, bool> {
        // Everything that can be stored can also be read by an owner who reads nothing else.
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

/// The answer to a request. A large answer, and each large event of a stream, counts until it is written; so does the
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
        // The answer is rendered and its sources are dropped. Over HTTP/2 the client may never read the first chunk, so
        // it counts from here on.
        room.set(if is_small { 0 } else { usize::try_from(size).unwrap_or(usize::MAX) });
    }
    // A request with a complete answer is done. Its load is released together with its body.
    let load = load.filter(|load| load.is_large() || (!is_small && load.counts()));
    if is_small && load.is_none() {
        return response;
    }
    let counts_frames = size.is_none();
    let turns = turns.clone();
    let counted = |body| CountedBody { body, room, _request: load, turns, counts_frames, rest: Bytes::new(), piece: 0 };
    response.map(|body| Body::new(counted(body)))
}

/// A body whose large chunks count until they are written. They are passed on in small pieces: the connection takes the
/// next one when the last is sent.
struct CountedBody {
    body: Body,
    room: Arc<Room>,
    /// The request, if it is large.
    _request: Option<Arc<Load>>,
    /// Large events of a stream are rendered off the worker too.
    turns: PollSemaphore,
    /// Whether each chunk counts by itself. Otherwise the whole was counted when it was made.
    counts_frames: bool,
    rest: Bytes,
    /// The size of the chunk that is being passed on.
    piece: usize,
}

impl CountedBody {
    fn next_of_rest(&mut self) -> Frame<Bytes> {
        Frame::data(self.rest.split_to(self.rest.len().min(INFLIGHT_PIECE_BYTES)))
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.counts_frames || !self.room.is_large() || !lane::can_leave() {
            return Pin::new(&mut self.body).poll_frame(cx);
        }
        let turn = ready!(self.turns.poll_acquire(cx));
        let polled = lane::off_worker(cx, |cx| Pin::new(&mut self.body).poll_frame(cx));
        drop(turn);
        polled
    }
}

impl HttpBody for CountedBody {
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

impl Drop for CountedBody {
    fn drop(&mut self) {
        // A run may still hold the caller, and with it the room.
        self.room.set(0);
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
