//! How long a provider asks to wait. Dates are counted from the response's own `Date`, so no clock is needed.

use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The wait that the headers ask for: milliseconds, seconds, a date, or the reset of the limit that is used up.
pub(crate) fn of(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|millis| millis.parse::<f64>().ok()) {
        return seconds(millis / 1_000.0);
    }
    if let Some(asked) = text("retry-after") {
        return match asked.parse::<f64>() {
            Ok(asked) => seconds(asked),
            Err(_) => until(asked, text("date")?),
        };
    }
    let used_up = |limit: &str| text(&format!("x-ratelimit-remaining-{limit}")) == Some("0");
    let resets = ["requests", "tokens"].into_iter().filter(|limit| used_up(limit));
    resets.filter_map(|limit| duration(text(&format!("x-ratelimit-reset-{limit}"))?)).max()
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// The time from one date to another. A date in the past is now.
fn until(then: &str, now: &str) -> Option<Duration> {
    let parsed = |date: &str| -> Option<Timestamp> { rfc2822::DateTimeParser::new().parse_timestamp(date).ok() };
    let wait = parsed(then)?.duration_since(parsed(now)?);
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// A duration as providers write it: `34s`, `6m0s`, `1h2m3.5s`, `120ms`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let (factor, length) = match unit {
            _ if unit.starts_with("ms") => (0.001, 2),
            _ if unit.starts_with('s') => (1.0, 1),
            _ if unit.starts_with('m') => (60.0, 1),
            _ if unit.starts_with('h') => (3_600.0, 1),
            _ => return None,
        };
        total += number * factor;
        rest = &unit[length..];
    }
    seconds(total).filter(|_| !text.trim().is_empty())
}

#[cfg(test)]
#[path = "retry_after_tests.rs"]
mod tests;
