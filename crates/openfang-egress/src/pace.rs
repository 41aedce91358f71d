//! How fast a peer is read that says what nobody asked for. What was asked for is given back, so that answers are never slowed
//! down; the rest goes at a walk once a first amount is used up, and the peer waits in its own write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::limits::{MCP_UNASKED_BURST, MCP_UNASKED_PER_SECOND};
use tokio::time::{Instant, sleep};

/// What may still be read at once.
#[derive(Debug)]
pub struct Pace {
    left: u64,
    at: Instant,
}

impl Pace {
    /// With a first amount that costs no time.
    pub fn new() -> Self {
        Self { left: MCP_UNASKED_BURST, at: Instant::now() }
    }

    /// Takes so much; returns how long to wait before more is read.
    pub fn take(&mut self, amount: u64) -> Option<Duration> {
        if amount <= self.left {
            self.left -= amount;
            return None;
        }
        // Only whoever is out of it looks at the clock.
        let now = Instant::now();
        let grown = now.duration_since(self.at).as_secs_f64() * MCP_UNASKED_PER_SECOND;
        self.at = now;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, cut to the burst"
        )]
        let grown = grown.min(MCP_UNASKED_BURST as f64) as u64;
        self.give(grown);
        let missing = amount.saturating_sub(self.left);
        self.left = self.left.saturating_sub(amount);
        let wait = (missing > 0).then(|| Duration::from_secs_f64(missing as f64 / MCP_UNASKED_PER_SECOND));
        // What grows while the peer waits is what it waits for.
        self.at += wait.unwrap_or_default();
        wait
    }

    /// Gives so much back.
    pub fn give(&mut self, amount: u64) {
        self.left = (self.left + amount).min(MCP_UNASKED_BURST);
    }

    /// Takes so much, and waits as long as that takes.
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

/// The pace of a peer that speaks on several streams.
#[derive(Debug, Clone, Default)]
pub struct SharedPace(Arc<Mutex<Pace>>);

impl SharedPace {
    /// Gives so much back.
    pub fn give(&self, amount: u64) {
        self.lock().give(amount);
    }

    /// Takes so much, and waits as long as that takes.
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
