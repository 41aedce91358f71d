//! Everything that must be gone after a child: its process group, its control group, its temporary home. Both the
//! launcher and the reaper hold these records, so both can clean up.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

use super::{cgroup, rubble};

/// The resources of one child. The paths are made by us from random names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChildResources {
    /// The child's pid, which is also its group and session id.
    pub(super) group: i32,
    cgroup: Option<OsString>,
    home: Option<OsString>,
}

impl ChildResources {
    pub(super) fn new(group: i32, cgroup: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        Self { group, cgroup: cgroup.map(Into::into), home: home.map(Into::into) }
    }

    pub(super) fn cgroup(&self) -> Option<&Path> {
        self.cgroup.as_ref().map(Path::new)
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_ref().map(Path::new)
    }

    /// Makes the temporary home, for its user alone.
    pub(super) fn make_home(&self) -> io::Result<()> {
        self.home().map_or(Ok(()), |home| DirBuilder::new().mode(0o700).create(home))
    }

    /// Kills everything that is still running.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
        if let Some(cgroup) = self.cgroup() {
            cgroup::kill(cgroup);
        }
    }

    /// Sends a signal to the group, or to the child alone until it has created its session. A missing process is not an
    /// error.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.group) {
            let _ = kill_process_group(group, signal).or_else(|_| kill_process(group, signal));
        }
    }

    /// Removes the files within the time budget. Returns whether nothing is left. While processes are dying, something
    /// may be left.
    pub(super) fn clear_away(&self, budget: Duration) -> bool {
        let cgroup_is_gone = self.cgroup().is_none_or(cgroup::remove);
        let home_is_gone = self.home().is_none_or(|home| rubble::remove(home, Instant::now() + budget));
        cgroup_is_gone && home_is_gone
    }
}
