//! Sets the resource limits of the process before it becomes the program. Its children inherit them.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use crate::process::ResourceLimits;

/// Sets the limits, and disables core files, which could contain secrets.
pub(super) fn apply(limits: &ResourceLimits) -> io::Result<()> {
    let processes = limits.processes.map(|processes| processes.saturating_add(tasks_of_user()));
    let wanted = [
        (Resource::Core, Some(0)),
        (Resource::Data, limits.memory),
        (Resource::Nproc, processes),
        (Resource::Nofile, limits.open_files),
        (Resource::Fsize, limits.file_size),
        (Resource::Cpu, limits.cpu_seconds),
    ];
    for (resource, limit) in wanted {
        if let Some(limit) = limit {
            // Never above the hard limit: only root could raise it.
            let limit = getrlimit(resource).maximum.map_or(limit, |maximum| limit.min(maximum));
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
    }
    Ok(())
}

/// The number of tasks our user has now. The system counts all of them together.
fn tasks_of_user() -> u64 {
    let user = getuid().as_raw();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok())
        .filter_map(|status| tasks_in(&status, user))
        .sum()
}

/// The threads of a process, by the text of its /proc/PID/status, if it is this user's.
fn tasks_in(status: &str, user: u32) -> Option<u64> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next();
    let owner: u32 = field("Uid:")?.parse().ok()?;
    let threads = field("Threads:")?.parse().ok()?;
    (owner == user).then_some(threads)
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
