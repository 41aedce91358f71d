//! The script behind the streams, and what is read of an event.

use super::*;

#[test]
fn the_pace_makes_the_wanted_number_of_events_on_all_streams_together() {
    let (few, many) = (script(50, Duration::from_secs(10)), script(5_000, Duration::from_secs(10)));

    assert_eq!((few.matches("delay_ms = 50 }").count(), few.lines().count()), (200, 203));
    assert_eq!((many.matches("delay_ms = 5000 }").count(), many.lines().count()), (2, 5));
}

#[test]
fn only_changes_of_status_tell_their_time() {
    let update =
        b"5a\r\nid: t:3\ndata: {\"result\":{\"statusUpdate\":{\"status\":{\"timestamp\":\"2026-11-16T06:00:00.5Z\"}}}}";

    let time = status_time(update).unwrap().unwrap();

    assert_eq!(time, "2026-11-16T06:00:00.5Z".parse().unwrap());
    assert_eq!(status_time(b"data: {\"task\":{\"timestamp\":\"x\"}}").unwrap(), None);
    assert!(status_time(b"data: {\"statusUpdate\":{}}").is_err());
}
