//! Stopping, step by step: intake ends elsewhere, running work gets its time, and what is left then is interrupted
//! honestly. Whoever stops decides when each step is due.

use crate::Kernel;

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
        self.idle().await;
    }
}
