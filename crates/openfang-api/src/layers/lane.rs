//! Large requests are worked on beside the workers: reading megabytes of JSON takes a while, and others must not wait
//! for it. Only so many are, at a time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;
use tokio_util::sync::PollSemaphore;

use super::inflight::Load;

/// A turn for each large request that is being worked on.
pub(super) fn turns() -> Arc<Semaphore> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new((cores / 2).max(1)))
}

/// Work on a request, which leaves the worker as soon as its body turns out to be large.
pub(super) struct Aside<F> {
    work: F,
    load: Arc<Load>,
    turns: PollSemaphore,
}

impl<F> Aside<F> {
    pub(super) fn new(work: F, load: Arc<Load>, turns: &Arc<Semaphore>) -> Self {
        Self { work, load, turns: PollSemaphore::new(Arc::clone(turns)) }
    }
}

impl<F: Future + Unpin> Future for Aside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !self.load.is_large() || !can_leave() {
            return Pin::new(&mut self.work).poll(cx);
        }
        // Held for this step only: whoever waits for something holds up nobody.
        let turn = ready!(self.turns.poll_acquire(cx));
        let polled = block_in_place(|| Pin::new(&mut self.work).poll(cx));
        drop(turn);
        polled
    }
}

/// Whether there are other workers to leave the rest to.
fn can_leave() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}
