//! Decides whether a safe request is retried and after which pause: a random time below a doubling bound, or the time
//! the server asks for. If the server asks for too long a pause, the caller gets its response.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use openfang_types::limits::{HTTP_BACKOFF, HTTP_BACKOFF_MAX, HTTP_RETRY_AFTER_MAX};

use super::HttpError;
use super::circuit::OriginHealth;

/// The pauses between retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The bound of the first pause.
    pub first: Duration,
    /// The bound of every pause.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: HTTP_BACKOFF, longest: HTTP_BACKOFF_MAX }
    }
}

impl Backoff {
    /// The pause after this attempt, counted from 0. `chance` is a random number.
    fn pause(&self, attempt: u32, chance: u32) -> Duration {
        let bound = self.first.saturating_mul(2_u32.saturating_pow(attempt)).min(self.longest);
        bound.mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }
}

/// The pause before a retry; none if there is no retry.
pub(super) fn pause(
    outcome: &Result<reqwest::Response, HttpError>,
    backoff: &Backoff,
    attempt: u32,
) -> Option<Duration> {
    // Without randomness the pause is as long as its bound.
    let chance = getrandom::u32().unwrap_or(u32::MAX);
    match outcome {
        Err(error) => error.is_worth_a_retry().then(|| backoff.pause(attempt, chance)),
        Ok(answer) => asked_to_wait(answer.status(), answer.headers(), || backoff.pause(attempt, chance)),
    }
}

/// The health of the origin after this outcome.
pub(super) fn health(outcome: &Result<reqwest::Response, HttpError>) -> OriginHealth {
    match outcome {
        Ok(answer) if is_gateway_failure(answer.status()) => OriginHealth::Bad,
        Ok(_) => OriginHealth::Good,
        Err(error) if error.is_transport_failure() => OriginHealth::Bad,
        Err(_) => OriginHealth::Unknown,
    }
}

fn asked_to_wait(status: StatusCode, headers: &HeaderMap, usual: impl FnOnce() -> Duration) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && !is_gateway_failure(status) {
        return None;
    }
    let Some(asked) = headers.get(header::RETRY_AFTER) else { return Some(usual()) };
    // A date would require the server's clock, so it causes no retry.
    let seconds = asked.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|asked| *asked <= HTTP_RETRY_AFTER_MAX)
}

fn is_gateway_failure(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
