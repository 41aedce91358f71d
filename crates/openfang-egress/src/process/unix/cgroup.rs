//! Control groups (version 2): one per child, below our own, if the system allows it.
//!
//! Whatever the child does (a new session, a double fork), it stays in its group, so one write kills all of it. Memory
//! and the number of processes are limited here too, if those controllers are available. Without permission to create
//! groups, a child that leaves its process group survives its end.

use std::io;
use std::path::{Path, PathBuf};

use crate::process::ResourceLimits;

/// Finds the parent for groups: our own group, if a group below it can be created and killed. `trial` is a unique name.
pub(super) fn find(trial: &str) -> Option<PathBuf> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let place = own_directory(&own, &mounts)?;
    let trial = place.join(trial);
    std::fs::create_dir(&trial).ok()?;
    let usable =
        trial.join("cgroup.kill").exists() && std::fs::OpenOptions::new().write(true).open(trial.join(PROCS)).is_ok();
    remove(&trial);
    usable.then_some(place)
}

const PROCS: &str = "cgroup.procs";

/// The directory of our own group, from the contents of /proc/self/cgroup and /proc/self/mountinfo.
fn own_directory(own: &str, mounts: &str) -> Option<PathBuf> {
    let group = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let beneath = Path::new(group).strip_prefix(root).ok()?;
        kind.starts_with("cgroup2 ").then(|| Path::new(point).join(beneath))
    })
}

/// Creates a group, sets its limits and moves a process into it. Returns the limits the process must set itself.
pub(super) fn enter(group: &Path, process: u32, limits: &ResourceLimits) -> io::Result<ResourceLimits> {
    std::fs::create_dir(group)?;
    let memory = rest(&group.join("memory.max"), limits.memory);
    let processes = rest(&group.join("pids.max"), limits.processes);
    std::fs::write(group.join(PROCS), process.to_string())?;
    Ok(ResourceLimits { memory, processes, ..limits.clone() })
}

/// Sets a limit of a group. Returns the limit if it could not be set.
fn rest(file: &Path, limit: Option<u64>) -> Option<u64> {
    limit.filter(|limit| !file.exists() || std::fs::write(file, limit.to_string()).is_err())
}

/// Kills everything in a group. A missing group is empty.
pub(super) fn kill(group: &Path) {
    let _ = std::fs::write(group.join("cgroup.kill"), "1");
}

/// Removes a group and its children. Returns false while processes in it are still dying.
pub(super) fn remove(group: &Path) -> bool {
    for entry in std::fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    std::fs::remove_dir(group).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
