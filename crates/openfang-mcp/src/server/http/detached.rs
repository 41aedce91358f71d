//! Work that goes on when its client goes away. In the legacy era a lost connection is not a cancellation: the client
//! may come back and fetch the rest.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::task::Poll;
use std::thread;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

/// Work whose outcome is waited for. Work that is done at once costs no task; other work has one of its own, so it goes
/// on whoever waits.
#[must_use = "the outcome is waited for, or left to `then`"]
pub(super) enum Detached<T> {
    /// The work is done.
    Done(Option<T>),
    /// The work goes on. Its outcome, or its panic, arrives here.
    Away(oneshot::Receiver<thread::Result<T>>),
}

impl<T: Send + 'static> Detached<T> {
    /// Begins the work. If nobody waits for its outcome any more, `then` gets it.
    pub(super) fn begin<W, N>(work: W, then: N, tracker: &TaskTracker) -> impl Future<Output = Self>
    where
        W: Future<Output = T> + Send + 'static,
        N: FnOnce(T) + Send + 'static,
    {
        // Here and not in the future, which would have room for the work beside the box.
        let mut work = Box::pin(work);
        async move {
            if let Poll::Ready(outcome) = futures_util::poll!(&mut work) {
                return Self::Done(Some(outcome));
            }
            let (tell, told) = oneshot::channel();
            tracker.spawn(async move {
                let outcome = AssertUnwindSafe(work).catch_unwind().await;
                if let Err(Ok(outcome)) = tell.send(outcome) {
                    then(outcome);
                }
            });
            Self::Away(told)
        }
    }

    /// The outcome. Waiting can be given up and begun again.
    pub(super) async fn outcome(&mut self) -> T {
        match self {
            Self::Done(outcome) => match outcome.take() {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            },
            Self::Away(told) => match told.await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(panic)) => resume_unwind(panic),
                // The runtime ends.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Stops waiting: the outcome, if it is there already. Otherwise `then` gets it.
    pub(super) fn leave(self) -> Option<T> {
        match self {
            Self::Done(outcome) => outcome,
            Self::Away(mut told) => {
                told.close();
                told.try_recv().ok()?.ok()
            }
        }
    }
}

#[cfg(test)]
#[path = "detached_tests.rs"]
mod tests;
