//! Work that goes on when its client goes away. In the legacy era a lost connection is not a cancellation: the client
//! may come back and fetch the rest.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::task::TaskTracker;

/// Work whose outcome is waited for. When it is dropped before its end it moves to the tracker, and `then` gets the
/// outcome there.
pub(super) struct Detached<T: Send + 'static> {
    rest: Option<(Work<T>, Then<T>)>,
    tracker: TaskTracker,
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Then<T> = Box<dyn FnOnce(T) + Send>;

impl<T: Send + 'static> Detached<T> {
    pub(super) fn new(
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(T) + Send + 'static,
        tracker: &TaskTracker,
    ) -> Self {
        Self { rest: Some((Box::pin(work), Box::new(then))), tracker: tracker.clone() }
    }
}

impl<T: Send + 'static> Future for Detached<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some((work, _)) = &mut self.rest else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Detached<T> {
    fn drop(&mut self) {
        if let Some((work, then)) = self.rest.take() {
            self.tracker.spawn(async move { then(work.await) });
        }
    }
}
