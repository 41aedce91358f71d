//! Stopping: intake has ended elsewhere, running work gets its time, and what is left then is interrupted honestly.

use tokio::time::timeout;

use crate::Kernel;

/// How stopping went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// All work had ended.
    Finished,
    /// Some work had to be interrupted; its tasks say so.
    Interrupted,
}

impl Kernel {
    /// Lets running work finish, for as long as config allows, then interrupts it.
    pub async fn drain(&self) -> Drained {
        self.inner.draining.cancel();
        self.inner.tracker.close();
        if timeout(self.inner.config.limits.drain(), self.inner.tracker.wait()).await.is_ok() {
            return Drained::Finished;
        }
        self.inner.stop.cancel();
        self.inner.tracker.wait().await;
        Drained::Interrupted
    }
}
