//! How many calls a second the daemon gets, from the counters of its metrics.

use std::time::Instant;

use serde::Serialize;

/// The counter of calls by tool and outcome.
const CALLS: &str = "openfang_tool_calls_total{";
const SUCCEEDED: &str = "outcome=\"succeeded\"";

/// The calls since the daemon started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    all: u64,
    succeeded: u64,
}

/// Calls in a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallRates {
    pub(super) calls: f64,
    /// Those that were refused or failed.
    pub(super) unsuccessful: f64,
}

impl CallCounts {
    /// Reads them from the text of `/metrics`.
    pub(super) fn of(metrics: &str) -> Self {
        let mut counts = Self::default();
        for line in metrics.lines().filter(|line| line.starts_with(CALLS)) {
            let count = line.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
            counts.all += count;
            counts.succeeded += if line.contains(SUCCEEDED) { count } else { 0 };
        }
        counts
    }
}

/// The counts of one screen, for the rates on the next.
#[derive(Debug, Default)]
pub(super) struct Rates {
    before: Option<(Instant, CallCounts)>,
}

impl Rates {
    /// The rates since the last screen; none on the first, and after a restart of the daemon.
    pub(super) fn since_last(&mut self, now: Instant, counts: CallCounts) -> Option<CallRates> {
        let (then, before) = self.before.replace((now, counts))?;
        let seconds = now.duration_since(then).as_secs_f64();
        let all = counts.all.checked_sub(before.all)?;
        let succeeded = counts.succeeded.checked_sub(before.succeeded)?;
        let rate = |count: u64| (count as f64 / seconds * 10.0).round() / 10.0;
        (seconds > 0.0).then(|| CallRates { calls: rate(all), unsuccessful: rate(all.saturating_sub(succeeded)) })
    }
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
