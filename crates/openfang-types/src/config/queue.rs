//! The work queue, under `[queue]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::limits::QUEUE_LEASE_SECS_MAX;

/// The work queue, under `[queue]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueueConfig {
    /// Maximum items of one owner that have not ended. The next one is refused.
    pub open_per_owner: usize,
    /// Seconds for which a worker holds an item, unless it asks for another time.
    pub lease_secs: u64,
    /// Claims after which an item that nobody completes is dead.
    pub attempts: u32,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self { open_per_owner: 10_000, lease_secs: 900, attempts: 5 }
    }
}

pub(super) fn problems(queue: &QueueConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: format!("queue.{key}"), why });
    if !(1..=100_000).contains(&queue.open_per_owner) {
        say("open_per_owner", "must be between 1 and 100000".to_owned());
    }
    if !(1..=QUEUE_LEASE_SECS_MAX).contains(&queue.lease_secs) {
        say("lease_secs", format!("must be between 1 and {QUEUE_LEASE_SECS_MAX}"));
    }
    if !(1..=1_000).contains(&queue.attempts) {
        say("attempts", "must be between 1 and 1000".to_owned());
    }
    problems
}
