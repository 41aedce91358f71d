//! Accepts a launch and returns a child.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use openfang_types::config::ChildIsolation;
use openfang_types::limits::CHILDREN_MAX;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::launcher::{self, LauncherJob};
use super::{Child, supervisor};
use crate::process::{DoorConfig, Launch, ProcessError, ProcessMetrics};

/// Starts children. Clones share one launcher; one per process is enough. Children outlive this value, but not the
/// process.
#[derive(Clone)]
pub struct ProcessDoor {
    hall: Arc<LauncherHandle>,
}

/// The shared state that every child's task needs.
pub(super) struct LauncherHandle {
    pub(super) config: DoorConfig,
    pub(super) errands: SyncSender<LauncherJob>,
    pub(super) metrics: ProcessMetrics,
    permits: Arc<Semaphore>,
    tracker: TaskTracker,
}

impl ProcessDoor {
    /// Starts the launcher thread. A task per child runs on the tracker. When the task is dropped with its runtime, the
    /// child is killed immediately.
    pub fn open(config: DoorConfig, tracker: TaskTracker, metrics: ProcessMetrics) -> Result<Self, ProcessError> {
        let helper = config.helper.clone();
        let errands = launcher::start(config.clone()).map_err(|cause| ProcessError::Helper {
            helper,
            deed: "have a thread",
            cause,
        })?;
        let permits = Arc::new(Semaphore::new(CHILDREN_MAX));
        Ok(Self { hall: Arc::new(LauncherHandle { config, errands, metrics, permits, tracker }) })
    }

    /// Starts a program. On success the program runs with the containment that [`Child::containment`] reports. Dropping
    /// the future ends the child.
    pub async fn start(&self, launch: Launch) -> Result<Child, ProcessError> {
        if self.hall.config.isolation == ChildIsolation::Portable && launch.needs_walls() {
            self.hall.metrics.never_ran();
            return Err(ProcessError::NoWalls { program: launch.program.path().to_owned() });
        }
        let Ok(permit) = Arc::clone(&self.hall.permits).try_acquire_owned() else {
            self.hall.metrics.never_ran();
            return Err(ProcessError::TooMany { limit: CHILDREN_MAX });
        };
        let span = tracing::info_span!("child", program = launch.program.name(), pid = tracing::field::Empty);
        let (tell, told) = oneshot::channel();
        let supervising = supervisor::run(Arc::clone(&self.hall), launch, permit, tell);
        self.hall.tracker.spawn(supervising.instrument(span));
        told.await.map_err(|_| ProcessError::Closed)?
    }
}

impl fmt::Debug for ProcessDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessDoor").field("config", &self.hall.config).finish_non_exhaustive()
    }
}
