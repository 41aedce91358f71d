//! When a server is connected to again: soon at first, later more seldom, and not too often in a minute.

use std::collections::VecDeque;
use std::time::Duration;

use openfang_types::limits::{MCP_RECONNECT, MCP_RECONNECT_MAX, MCP_RESTART_WINDOW, MCP_RESTARTS};
use tokio::time::Instant;

/// Remembers the starts of late.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    starts: VecDeque<Instant>,
    /// How many starts the last attempt took.
    last: usize,
    failures: u32,
}

impl Backoff {
    /// An attempt, and how many starts it took: a server that leaves over a question is started twice.
    pub(super) fn started(&mut self, at: Instant, times: usize) {
        self.last = times;
        self.starts.extend(std::iter::repeat_n(at, times));
        while self.starts.front().is_some_and(|start| start.elapsed() > MCP_RESTART_WINDOW) {
            self.starts.pop_front();
        }
    }

    /// It ran for a while: what comes next is another story.
    pub(super) fn held(&mut self) {
        self.failures = 0;
    }

    /// Whether a server that was up and went away may be connected to again without a pause.
    pub(super) fn allows_another(&self) -> bool {
        self.until_allowed().is_zero()
    }

    /// How long to wait before the next start. `chance` is somewhere between 0 and 1.
    pub(super) fn pause(&mut self, chance: f64) -> Duration {
        let doubled = MCP_RECONNECT.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        let pause = doubled.min(MCP_RECONNECT_MAX).mul_f64(0.75 + chance.clamp(0.0, 1.0) / 4.0);
        pause.max(self.until_allowed())
    }

    /// How long until another attempt like the last one makes no more starts than there may be.
    fn until_allowed(&self) -> Duration {
        let beyond = (self.starts.len() + self.last).saturating_sub(MCP_RESTARTS);
        let must_be_past = beyond.checked_sub(1).and_then(|at| self.starts.get(at));
        must_be_past.map_or(Duration::ZERO, |start| MCP_RESTART_WINDOW.saturating_sub(start.elapsed()))
    }
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
