//! What is read of streams.

use super::*;

#[test]
fn the_time_in_an_event_is_read_once_it_is_whole() {
    let now = Timestamp::now();

    assert!(delay("data: {\"text\":\"").unwrap().is_none());
    assert!(delay(&format!("data: {{\"text\":\"{SENT}{now}")).unwrap().is_none());
    let late = delay(&format!("data: {{\"text\":\"{SENT}{now}\"}}")).unwrap().unwrap();
    assert!((0.0..60_000.0).contains(&late), "{late}");
}
