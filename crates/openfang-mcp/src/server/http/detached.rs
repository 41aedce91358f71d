//! Work that goes on when its client goes away. In the legacy era a lost connection is not a cancellation: the client
//! may come back and fetch the rest.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::task::TaskTracker;

/// Work whose outcome is waited for. When it is dropped before its end it moves to the tracker, and `then` gets the
/// outcome there.
pub(super) struct Detached<'a, W, N>
where
    W: Future<Output: Send> + Send + 'static,
    N: FnOnce(W::Output) + Send + Unpin + 'static,
{
    rest: Option<(Pin<Box<W>>, N)>,
    tracker: &'a TaskTracker,
}

impl<'a, W, N> Detached<'a, W, N>
where
    W: Future<Output: Send> + Send + 'static,
    N: FnOnce(W::Output) + Send + Unpin + 'static,
{
    pub(super) fn new(work: W, then: N, tracker: &'a TaskTracker) -> Self {
        Self { rest: Some((Box::pin(work), then)), tracker }
    }
}

impl<W, N> Future for Detached<'_, W, N>
where
    W: Future<Output: Send> + Send + 'static,
    N: FnOnce(W::Output) + Send + Unpin + 'static,
{
    type Output = W::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<W::Output> {
        let Some((work, _)) = &mut self.rest else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl<W, N> Drop for Detached<'_, W, N>
where
    W: Future<Output: Send> + Send + 'static,
    N: FnOnce(W::Output) + Send + Unpin + 'static,
{
    fn drop(&mut self) {
        if let Some((work, then)) = self.rest.take() {
            self.tracker.spawn(async move { then(work.await) });
        }
    }
}
