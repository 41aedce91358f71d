//! Processes large requests and answers off the workers, at low priority: reading or writing megabytes of JSON takes a
//! while, and other requests must not wait for it. The number of parallel ones is limited.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use openfang_types::background;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
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
    work: Pin<&'a mut F>,
    load: Option<&'a Load>,
    room: &'a Room,
    turns: PollSemaphore,
    own: Option<OwnTurn>,
}

/// The turn of the request's owner.
struct OwnTurn {
    turns: PollSemaphore,
    held: Option<OwnedSemaphorePermit>,
}

impl<'a, F> OffWorker<'a, F> {
    pub(super) const fn new(
        work: Pin<&'a mut F>,
        load: Option<&'a Load>,
        room: &'a Room,
        turns: PollSemaphore,
    ) -> Self {
        Self { work, load, room, turns, own: None }
    }

    /// Waits for the owner's turn first, so that a waiting owner is in line once.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Option<OwnedSemaphorePermit>> {
        let room = self.room;
        let own = self
            .own
            .get_or_insert_with(|| OwnTurn { turns: PollSemaphore::new(room.owner_turn()), held: None });
        if own.held.is_none() {
            own.held = ready!(own.turns.poll_acquire(cx));
        }
        self.turns.poll_acquire(cx)
    }
}

impl<F: Future<Output: Send> + Send> Future for OffWorker<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let is_large = self.room.is_large() || self.load.is_some_and(Load::is_large);
        if !is_large || !can_leave() {
            return self.work.as_mut().poll(cx);
        }
        // Held for this step only, so that a waiting request blocks nobody.
        let turn = ready!(self.poll_turn(cx));
        let polled = off_worker(cx, |cx| self.work.as_mut().poll(cx));
        drop(turn);
        if let Some(own) = &mut self.own {
            own.held = None;
        }
        polled
    }
}

/// Takes one step of a future on a background thread, while another thread takes over this worker.
pub(super) fn off_worker<T: Send>(cx: &Context<'_>, mut step: impl FnMut(&mut Context<'_>) -> T + Send) -> T {
    let (waker, runtime) = (cx.waker(), Handle::current());
    block_in_place(|| {
        background::run(|| {
            let _inside = runtime.enter();
            step(&mut Context::from_waker(waker))
        })
    })
}

/// Whether the runtime has other workers.
pub(super) fn can_leave() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}
