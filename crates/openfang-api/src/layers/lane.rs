//! Processes large requests and answers off the workers: reading or writing megabytes of JSON takes a while, and other
//! requests must not wait for it. The number of parallel ones is limited.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;
use tokio_util::sync::PollSemaphore;

use super::inflight::{Load, Room};

/// One permit for each large request or answer in progress.
pub(super) fn turns() -> PollSemaphore {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    PollSemaphore::new(Arc::new(Semaphore::new((cores / 2).max(1))))
}

/// The work on a request, which leaves the worker as soon as its body or its answer turns out to be large.
pub(super) struct OffWorker<'a, F> {
    pub(super) work: Pin<&'a mut F>,
    pub(super) load: Option<&'a Load>,
    pub(super) room: &'a Room,
    pub(super) turns: PollSemaphore,
}

impl<F: Future> Future for OffWorker<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let is_large = self.room.is_large() || self.load.is_some_and(Load::is_large);
        if !is_large || !can_leave() {
            return self.work.as_mut().poll(cx);
        }
        // Held for this step only, so that a waiting request blocks nobody.
        let turn = ready!(self.turns.poll_acquire(cx));
        let polled = block_in_place(|| self.work.as_mut().poll(cx));
        drop(turn);
        polled
    }
}

/// Whether the runtime has other workers.
pub(super) fn can_leave() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}
