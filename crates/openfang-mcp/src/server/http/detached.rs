//! Work that goes on when its client goes away. In the legacy era a lost connection is not a cancellation: the client
//! may come back and fetch the rest.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::task::TaskTracker;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Work that is moved to the tracker when it is dropped before its end.
pub(super) struct Detached {
    work: Option<Work>,
    tracker: TaskTracker,
}

impl Detached {
    pub(super) fn new(work: impl Future<Output = ()> + Send + 'static, tracker: &TaskTracker) -> Self {
        Self { work: Some(Box::pin(work)), tracker: tracker.clone() }
    }
}

impl Future for Detached {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.work else { return Poll::Ready(()) };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.tracker.spawn(work);
        }
    }
}
