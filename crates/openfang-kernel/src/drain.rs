//! Stopping, step by step: intake ends elsewhere, running work gets its time, and what is left then is interrupted
//! honestly. Whoever stops decides when each step is due.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long interrupted work gets to say so.
const LAST_MOMENTS: Duration = Duration::from_secs(5);

/// The life of the work in this process: what runs, and when it is to end. All clones are the same life.
#[derive(Clone, Default)]
pub(crate) struct Life {
    tracker: TaskTracker,
    draining: CancellationToken,
    stop: CancellationToken,
}

impl Life {
    /// What runs beside the requests, or outlives them, runs here.
    pub(crate) const fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    /// Fires when the server is told to stop: intake has ended, running work may finish.
    pub(crate) const fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Fires when running work has had its time.
    pub(crate) const fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Streams that nothing works for end from now on, and background work stops. Requests that were let in still run.
    pub(crate) fn begin_drain(&self) {
        self.draining.cancel();
        self.tracker.close();
    }

    /// Waits until nothing runs.
    pub(crate) async fn idle(&self) {
        self.tracker.wait().await;
    }

    /// Interrupts what still runs, now and whenever something more begins; the tasks say so.
    pub(crate) async fn interrupt(&self) {
        self.stop.cancel();
        // What has not heard it by then ends with the process: somebody's client may be thinking about an answer.
        let _ = tokio::time::timeout(LAST_MOMENTS, self.idle()).await;
    }
}
