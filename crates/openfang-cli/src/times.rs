//! Times as people say them: how long ago, and beyond a week the date.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago something was. JSON output has the exact time.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - at.as_second();
    match seconds {
        i64::MIN..0 => format!("{at:.0}"),
        0..2 => "just now".to_owned(),
        2..MINUTE => format!("{seconds} s ago"),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ if seconds < 7 * DAY => format!("{} d ago", seconds / DAY),
        _ => at.to_string().chars().take("2026-01-02".len()).collect(),
    }
}

#[cfg(test)]
#[path = "times_tests.rs"]
mod tests;
