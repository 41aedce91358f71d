//! Stopping, step by step: intake ends elsewhere, running work gets its time, and what is left then is interrupted
//! honestly. Whoever stops decides when each step is due.

use std::time::Duration;

use crate::Kernel;

/// How long interrupted work gets to say so.
const LAST_MOMENTS: Duration = Duration::from_secs(5);

impl Kernel {
    /// Streams that nothing works for end from now on, and background work stops. Requests that were let in still run.
    pub fn begin_drain(&self) {
        self.inner.draining.cancel();
        self.inner.tracker.close();
    }

    /// Waits until nothing runs.
    pub async fn idle(&self) {
        self.inner.tracker.wait().await;
    }

    /// Interrupts what still runs, now and whenever something more begins; the tasks say so.
    pub async fn interrupt(&self) {
        self.inner.stop.cancel();
        // What has not heard it by then ends with the process: somebody's client may be thinking about an answer.
        let _ = tokio::time::timeout(LAST_MOMENTS, self.idle()).await;
    }
}
