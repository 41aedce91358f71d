//! Reads the CPU time of all threads and the resident memory of another process from `/proc`, so the bench needs Linux.
//! Each thread's `schedstat` counts nanoseconds. On kernels without it, `stat` counts hundredths of a second.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// `USER_HZ`, which is the same on every architecture of Linux.
const TICKS_PER_SECOND: u32 = 100;

/// CPU time so far, by thread: a thread that ends between two readings must not count backwards.
#[derive(Debug)]
pub(crate) struct CpuTime {
    by_thread: HashMap<u32, Duration>,
}

impl CpuTime {
    /// Reads all threads of a process.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("process {pid} is gone"))?;
        let mut by_thread = HashMap::new();
        for thread in threads {
            let Some(id) = thread?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // A thread that has ended since the directory was read is not an error.
            if let Some(used) = used_by_thread(pid, id) {
                by_thread.insert(id, used);
            }
        }
        Ok(Self { by_thread })
    }

    /// The CPU time since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        let grown = self.by_thread.iter().map(|(id, now)| {
            let before = earlier.by_thread.get(id).copied().unwrap_or_default();
            now.saturating_sub(before)
        });
        grown.sum()
    }
}

fn used_by_thread(pid: u32, thread: u32) -> Option<Duration> {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}")).ok();
    read("schedstat")
        .as_deref()
        .and_then(schedstat)
        .or_else(|| read("stat").as_deref().and_then(stat))
}

fn schedstat(text: &str) -> Option<Duration> {
    let on_cpu = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(on_cpu))
}

/// `pid (name) state ...`: user and system time are the 12th and 13th field after the name, which may contain spaces.
fn stat(text: &str) -> Option<Duration> {
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(Duration::from_secs(1) * (user + system) / TICKS_PER_SECOND)
}

/// Resident memory of a process, in megabytes of a million bytes.
pub(crate) fn resident_mb(pid: u32) -> Result<f64> {
    memory_mb(pid, "VmRSS:")
}

/// The peak resident memory of a process, in megabytes of a million bytes.
pub(crate) fn peak_mb(pid: u32) -> Result<f64> {
    memory_mb(pid, "VmHWM:")
}

fn memory_mb(pid: u32, name: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("process {pid} is gone"))?;
    megabytes(&status, name).context("/proc says nothing about resident memory")
}

fn megabytes(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

#[cfg(test)]
#[path = "process_stat_tests.rs"]
mod tests;
