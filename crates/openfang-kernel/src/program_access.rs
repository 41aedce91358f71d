//! The way of tools to programs.

use std::sync::{Arc, OnceLock, Weak};

use openfang_egress::process::ProcessDoor;
use openfang_runtime::programs::Programs;
use tokio_util::task::TaskTracker;

use crate::outward::Outward;

/// Finds the door to programs. The tools are made before it is.
#[derive(Default)]
pub(crate) struct ProgramAccess {
    outward: OnceLock<(Weak<Outward>, TaskTracker)>,
}

impl ProgramAccess {
    /// Opens the way from now on.
    pub(crate) fn open(&self, outward: &Arc<Outward>, tracker: TaskTracker) {
        // A kernel is put together once.
        let _ = self.outward.set((Arc::downgrade(outward), tracker));
    }
}

impl Programs for ProgramAccess {
    fn door(&self) -> Result<ProcessDoor, String> {
        let closed = || "the server is starting or stopping; try again".to_owned();
        let (outward, tracker) = self.outward.get().ok_or_else(closed)?;
        let outward = outward.upgrade().ok_or_else(closed)?;
        outward.processes(tracker).cloned().map_err(|error| error.to_string())
    }
}
