//! The task of a child, from its order to its end. It writes stdin, reads stderr, and waits for the end or brings it
//! about: close stdin, wait, TERM, wait, KILL. If the task is dropped, the child is killed.

mod begin;

use std::convert::Infallible;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use openfang_types::limits::{CHILD_LAST_WORDS, CHILD_STDERR_LINE_BYTES, CHILD_STDERR_LINE_COST, CHILD_TERM_GRACE};
use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Child;
use super::door::LauncherHandle;
use super::end_watch::EndWatch;
use super::launcher::StartedChild;
use super::stdin::StdinPump;
use crate::pace::Pace;
use crate::process::stderr::Stderr;
use crate::process::{Containment, Ending, Exit, Launch, ProcessError, ProcessMetrics};

/// Starts a child, hands it out, and supervises it to the end.
pub(super) async fn run(
    hall: Arc<LauncherHandle>,
    launch: Launch,
    permit: OwnedSemaphorePermit,
    tell: oneshot::Sender<Result<Child, ProcessError>>,
) {
    match begin::begin(&hall, launch, permit).await {
        Ok((child, life)) => {
            tracing::Span::current().record("pid", child.pid);
            warn_if_open(&child.containment);
            // If nobody takes the child, it is dropped here, which ends it.
            drop(tell.send(Ok(child)));
            life.lead().await;
        }
        Err(error) => {
            hall.metrics.never_ran();
            tracing::info!(outcome = "never_ran", %error, "a child process did not start");
            drop(tell.send(Err(error)));
        }
    }
}

fn warn_if_open(containment: &Containment) {
    match containment {
        Containment::NotAsked | Containment::Full => {}
        Containment::Partial { missing, .. } => {
            tracing::warn!(?missing, "the sandbox of this child process is incomplete on this kernel");
        }
        Containment::None { reason } => {
            tracing::warn!(
                %reason,
                "NO SANDBOX for this child process: it can read everything its user can read"
            );
        }
    }
}

/// A running child from the point of view of its task.
struct RunningChild {
    body: StartedChild,
    end: EndWatch,
    stdin: StdinPump,
    /// None if somebody else reads it.
    stderr_pipe: Option<pipe::Receiver>,
    stderr: Arc<Stderr>,
    exit: watch::Sender<Option<Exit>>,
    stop: CancellationToken,
    close_grace: Duration,
    living: RunningCount,
}

impl RunningChild {
    async fn lead(self) {
        let Self { body, mut end, stdin, stderr_pipe, stderr, exit, stop, close_grace, living } = self;
        let (read, all_read) = oneshot::channel();
        let mut pumps = pin!(async {
            tokio::join!(stdin.run(&stop), async {
                if let Some(pipe) = stderr_pipe {
                    drain(pipe, &stderr).await;
                }
                let _ = read.send(());
            });
            pending::<Infallible>().await
        });
        let asked = alongside(pumps.as_mut(), ended(&body, &mut end, &stop, close_grace)).await;
        let ending = alongside(pumps.as_mut(), body.reap()).await;
        let _ = timeout(CHILD_LAST_WORDS, alongside(pumps.as_mut(), all_read)).await;
        stderr.end();
        let ended = Exit { ending, asked };
        living.ended(&ended);
        tracing::debug!(outcome = ended.word(), "a child process ended");
        exit.send_replace(Some(ended));
    }
}

/// Runs `work` together with the pumps, which never end by themselves.
async fn alongside<T>(pumps: Pin<&mut impl Future<Output = Infallible>>, deed: impl Future<Output = T>) -> T {
    tokio::select! {
        biased;
        done = deed => done,
        never = pumps => match never {},
    }
}

/// Waits for the end or brings it about. Returns whether it was requested. The child is not reaped here, so its pid is
/// still valid.
async fn ended(body: &StartedChild, end: &mut EndWatch, stop: &CancellationToken, close_grace: Duration) -> bool {
    tokio::select! {
        biased;
        () = end.ended() => return false,
        // The stdin pump sees the same token and closes the pipe.
        () = stop.cancelled() => {}
    }
    if timeout(close_grace, end.ended()).await.is_err() {
        body.signal(Signal::TERM);
        let _ = timeout(CHILD_TERM_GRACE, end.ended()).await;
    }
    true
}

/// Reads stderr. A child that writes too fast blocks in its own write.
async fn drain(mut pipe: pipe::Receiver, stderr: &Stderr) {
    let mut chunk = vec![0; CHILD_STDERR_LINE_BYTES];
    let mut pace = Pace::new();
    while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
        stderr.push(&chunk[..read]);
        let lines = chunk[..read].iter().filter(|byte| **byte == b'\n').count();
        pace.spend(read as u64 + lines as u64 * CHILD_STDERR_LINE_COST).await;
    }
}

/// Counts a child as running until it has ended or its task is dropped.
struct RunningCount {
    metrics: Option<ProcessMetrics>,
}

impl RunningCount {
    fn new(metrics: &ProcessMetrics) -> Self {
        metrics.ran();
        Self { metrics: Some(metrics.clone()) }
    }

    fn ended(mut self, exit: &Exit) {
        if let Some(metrics) = self.metrics.take() {
            metrics.ended(exit);
        }
    }
}

impl Drop for RunningCount {
    fn drop(&mut self) {
        if let Some(metrics) = self.metrics.take() {
            metrics.ended(&Exit { ending: Ending::Unknown, asked: true });
        }
    }
}
