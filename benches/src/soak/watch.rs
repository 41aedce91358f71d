//! Observes the server from outside: its resident memory ten times a second, its health once a second. The kernel
//! records the peak of a process, so a peak between two readings counts too.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::client::{Client, HONEST, Request};
use crate::process_stat::{peak_mb, resident_mb};

const LOOK: Duration = Duration::from_millis(100);
const LOOKS_PER_HEALTH: u32 = 10;

/// The observations since the last reading.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Process {
    pub(super) peak_mb: f64,
    /// How often the server reported a problem or did not answer.
    pub(super) unhealthy: usize,
}

impl Process {
    /// The peak since the start of the process. If it has grown, the peak was reached since the last reading.
    fn note_peak(&mut self, before: f64, now: f64) {
        if now > before {
            self.peak_mb = self.peak_mb.max(now);
        }
    }
}

pub(super) struct Watch {
    pid: u32,
    process: Arc<Mutex<Process>>,
    /// The peak at the last reading.
    peak_before: Mutex<f64>,
    task: JoinHandle<()>,
}

impl Watch {
    #[expect(clippy::disallowed_methods, reason = "the soak has no tracker: the watch is ended by its value")]
    pub(super) fn start(pid: u32, address: String) -> Self {
        let process = Arc::new(Mutex::new(Process::default()));
        let task = tokio::spawn(look(pid, address, Arc::clone(&process)));
        Self { pid, process, peak_before: Mutex::new(0.0), task }
    }

    /// The observations since the last reading.
    pub(super) fn take(&self) -> Process {
        let mut seen = std::mem::take(&mut *self.process.lock().unwrap_or_else(PoisonError::into_inner));
        let mut before = self.peak_before.lock().unwrap_or_else(PoisonError::into_inner);
        let peak = peak_mb(self.pid).unwrap_or_default();
        seen.note_peak(*before, peak);
        *before = peak;
        seen
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look(pid: u32, address: String, process: Arc<Mutex<Process>>) {
    let mut client = Client::new(&address, HONEST);
    let mut pace = tokio::time::interval(LOOK);
    for number in 0_u32.. {
        pace.tick().await;
        let is_ill = number % LOOKS_PER_HEALTH == 0 && !is_healthy(&mut client).await;
        let resident = resident_mb(pid).unwrap_or_default();
        let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
        process.peak_mb = process.peak_mb.max(resident);
        process.unhealthy += usize::from(is_ill);
    }
}

async fn is_healthy(client: &mut Client) -> bool {
    let request = Request { what: "GET /health", key: "", headers: "", body: b"" };
    matches!(client.exchange(&request).await, Ok((200, _)))
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
