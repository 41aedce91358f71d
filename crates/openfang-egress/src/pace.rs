//! Limits the read rate of a peer that sends unrequested data. Requested data is given back to the budget, so that
//! answers are never delayed. Beyond an initial budget, the rest is read slowly, and the peer blocks in its own write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::limits::{CHILD_OUTPUT_BURST, CHILD_OUTPUT_PER_SECOND, MCP_UNASKED_BURST, MCP_UNASKED_PER_SECOND};
use tokio::time::{Instant, sleep};

/// The budget of bytes that may be read immediately.
#[derive(Debug)]
pub struct Pace {
    left: u64,
    at: Instant,
    burst: u64,
    per_second: f64,
}

impl Pace {
    /// Starts with the initial budget.
    pub fn new() -> Self {
        Self::of(MCP_UNASKED_BURST, MCP_UNASKED_PER_SECOND)
    }

    /// The pace of a program whose output is collected.
    pub fn of_output() -> Self {
        Self::of(CHILD_OUTPUT_BURST, CHILD_OUTPUT_PER_SECOND)
    }

    fn of(burst: u64, per_second: f64) -> Self {
        Self { left: burst, at: Instant::now(), burst, per_second }
    }

    /// Spends an amount and returns how long to wait before the next read.
    pub fn take(&mut self, amount: u64) -> Option<Duration> {
        if amount <= self.left {
            self.left -= amount;
            return None;
        }
        // The clock is read only when the budget is used up.
        let now = Instant::now();
        let grown = now.duration_since(self.at).as_secs_f64() * self.per_second;
        self.at = now;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, cut to the burst"
        )]
        let grown = grown.min(self.burst as f64) as u64;
        self.give(grown);
        let missing = amount.saturating_sub(self.left);
        self.left = self.left.saturating_sub(amount);
        let wait = (missing > 0).then(|| Duration::from_secs_f64(missing as f64 / self.per_second));
        // The budget that grows during the wait is what the wait is for.
        self.at += wait.unwrap_or_default();
        wait
    }

    /// Returns an amount to the budget.
    pub fn give(&mut self, amount: u64) {
        self.left = (self.left + amount).min(self.burst);
    }

    /// Spends an amount and waits as long as necessary.
    pub async fn spend(&mut self, amount: u64) {
        if let Some(wait) = self.take(amount) {
            sleep(wait).await;
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::new()
    }
}

/// The pace of a peer with several streams.
#[derive(Debug, Clone, Default)]
pub struct SharedPace(Arc<Mutex<Pace>>);

impl SharedPace {
    /// Returns an amount to the budget.
    pub fn give(&self, amount: u64) {
        self.lock().give(amount);
    }

    /// Spends an amount and waits as long as necessary.
    pub async fn spend(&self, amount: u64) {
        let wait = self.lock().take(amount);
        if let Some(wait) = wait {
            sleep(wait).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
