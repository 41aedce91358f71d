//! How long ago something was.

use super::*;

#[test]
fn a_time_is_said_in_the_largest_unit_that_fits() {
    let now: Timestamp = "2026-01-20T12:00:00Z".parse().unwrap();
    let rows = [
        ("2026-01-20T12:00:00Z", "just now"),
        ("2026-01-20T11:59:30Z", "30 s ago"),
        ("2026-01-20T11:58:30Z", "1 min ago"),
        ("2026-01-20T09:00:01Z", "2 h ago"),
        ("2026-01-18T12:00:00Z", "2 d ago"),
        ("2026-01-02T03:04:05Z", "2026-01-02"),
        ("2026-01-20T12:00:01Z", "2026-01-20T12:00:01Z"),
    ];
    for (at, expected) in rows {
        assert_eq!(ago(at.parse().unwrap(), now), expected);
    }
}
