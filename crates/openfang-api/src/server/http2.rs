//! The requests of one HTTP/2 connection. Flow control lets a peer stall a response while it keeps the connection
//! alive, so each stream has its own timer: a response that is not read for a while is dropped and its stream reset. A
//! connection without a request is closed, even if it answers pings.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use hyper::rt::Executor;
use openfang_types::limits::{HTTP2_PIECE_BYTES, HTTP2_SMALL_BYTES};
use tokio::time::{Instant, Sleep};
use tokio_util::task::TaskTracker;

use super::AnswerBody;

/// The shared state of a connection's requests, and their executor.
#[derive(Clone)]
pub(super) struct Requests {
    tracker: TaskTracker,
    stall: Duration,
    counts: Arc<Counts>,
    /// The timer of the next request: hyper creates its future and runs it immediately.
    next: Arc<Mutex<Option<Arc<Clock>>>>,
}

#[derive(Default)]
struct Counts {
    begun: AtomicU64,
    open: AtomicUsize,
}

/// Since when a response waits for its reader.
pub(super) struct Clock(Mutex<Option<Instant>>);

impl Clock {
    fn set(&self, since: Option<Instant>) {
        *self.lock() = since;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open request, counted until it is dropped.
struct Open(Arc<Counts>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Requests {
    pub(super) fn new(tracker: TaskTracker, stall: Duration) -> Self {
        Self { tracker, stall, counts: Arc::default(), next: Arc::default() }
    }

    /// The timer of a new request.
    pub(super) fn begin(&self) -> Arc<Clock> {
        let clock = Arc::new(Clock(Mutex::new(None)));
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&clock));
        clock
    }

    /// Returns when there has been no request for this long, or up to twice as long.
    pub(super) async fn idle(&self, time: Duration) {
        let mut seen = 0;
        loop {
            tokio::time::sleep(time).await;
            let begun = self.counts.begun.load(Ordering::Relaxed);
            if begun == seen && self.counts.open.load(Ordering::Relaxed) == 0 {
                return;
            }
            seen = begun;
        }
    }
}

impl<F> Executor<F> for Requests
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, request: F) {
        let clock = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.counts.begun.fetch_add(1, Ordering::Relaxed);
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        let (open, stall) = (Open(Arc::clone(&self.counts)), self.stall);
        self.tracker.spawn(async move {
            let _open = open;
            let mut request = pin!(request);
            let mut alarm: Option<Pin<Box<Sleep>>> = None;
            poll_fn(|cx| match request.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => is_stalled(clock.as_deref(), stall, &mut alarm, cx),
            })
            .await;
        });
    }
}

/// Ready when the peer has read nothing for too long. Dropping the request resets its stream.
fn is_stalled(
    clock: Option<&Clock>,
    stall: Duration,
    alarm: &mut Option<Pin<Box<Sleep>>>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(since) = clock.and_then(|clock| *clock.lock()) else {
        *alarm = None;
        return Poll::Pending;
    };
    let end = since + stall;
    let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
    if alarm.deadline() != end {
        alarm.as_mut().reset(end);
    }
    alarm.as_mut().poll(cx)
}

/// A response that is passed on in pieces, the next one when the last was sent. Passed-on data is buffered in the
/// connection, so the pieces are small.
pub(super) struct PacedBody<B: AnswerBody> {
    body: Pin<Box<B>>,
    rest: Option<B::Data>,
    clock: Arc<Clock>,
}

impl<B: AnswerBody> PacedBody<B> {
    pub(super) fn new(body: B, clock: Arc<Clock>) -> Self {
        clock.set(Some(Instant::now()));
        Self { body: Box::pin(body), rest: None, clock }
    }

    /// The next piece. hyper considers the last one done when it is passed on, read or not. So the last piece is a
    /// single byte, for which hyper waits until everything before it was read.
    fn piece(&mut self) -> Option<Bytes> {
        let rest = self.rest.as_mut()?;
        let length = match rest.remaining() {
            long if long > HTTP2_PIECE_BYTES => HTTP2_PIECE_BYTES,
            last if last > HTTP2_SMALL_BYTES => last - 1,
            small => small,
        };
        let piece = rest.copy_to_bytes(length);
        if !rest.has_remaining() {
            self.rest = None;
        }
        Some(piece)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        loop {
            if let Some(piece) = self.piece() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            let frame = match std::task::ready!(self.body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            match frame.into_data() {
                Ok(data) => self.rest = Some(data),
                Err(frame) => {
                    let trailers = frame.into_trailers().unwrap_or_default();
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
            }
        }
    }
}

impl<B: AnswerBody> Body for PacedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let next = self.poll_next(cx);
        // The timer stops while the peer waits for us.
        self.clock.set(next.is_ready().then(Instant::now));
        next
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.as_ref().map_or(0, |rest| rest.remaining() as u64);
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}
