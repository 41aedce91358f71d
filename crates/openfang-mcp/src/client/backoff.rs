//! When a server is connected to again: soon at first, later more seldom, and not too often in a minute.

use std::collections::VecDeque;
use std::time::Duration;

use openfang_types::limits::{MCP_RECONNECT, MCP_RECONNECT_MAX, MCP_RESTART_WINDOW, MCP_RESTARTS};
use tokio::time::Instant;

/// Remembers the starts of late.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    starts: VecDeque<Instant>,
    failures: u32,
}

impl Backoff {
    /// A start.
    pub(super) fn started(&mut self) {
        let now = Instant::now();
        self.starts.push_back(now);
        while self.starts.front().is_some_and(|start| now.duration_since(*start) > MCP_RESTART_WINDOW) {
            self.starts.pop_front();
        }
    }

    /// It ran for a while: what comes next is another story.
    pub(super) fn held(&mut self) {
        self.failures = 0;
    }

    /// How long to wait before the next start. `chance` is somewhere between 0 and 1.
    pub(super) fn pause(&mut self, chance: f64) -> Duration {
        let doubled = MCP_RECONNECT.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        let pause = if self.starts.len() >= MCP_RESTARTS { MCP_RECONNECT_MAX } else { doubled.min(MCP_RECONNECT_MAX) };
        pause.mul_f64(0.75 + chance.clamp(0.0, 1.0) / 4.0)
    }
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
