//! The pauses between repetitions.

use super::*;

#[test]
fn the_bound_doubles_up_to_the_longest_and_chance_takes_a_part_of_it() {
    let backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_millis(350) };
    let bounds: Vec<u128> = (0..4).map(|attempt| backoff.pause(attempt, u32::MAX).as_millis()).collect();

    assert_eq!(bounds, [100, 200, 350, 350]);
    assert_eq!(backoff.pause(0, 0), Duration::ZERO);
    assert_eq!(backoff.pause(1, u32::MAX / 2).as_secs_f32(), 0.1);
    assert_eq!(backoff.pause(u32::MAX, u32::MAX), backoff.longest);
}

#[test]
fn what_the_server_asks_for_counts_up_to_the_limit() {
    let usual = || Duration::from_millis(7);
    let asked = |status: u16, after: Option<&str>| {
        let headers = after.map(|after| (header::RETRY_AFTER, after.parse().unwrap())).into_iter().collect();
        asked_to_wait(StatusCode::from_u16(status).unwrap(), &headers, usual)
    };

    assert_eq!(asked(503, None), Some(usual()));
    assert_eq!(asked(429, Some("30")), Some(Duration::from_secs(30)));
    assert_eq!(asked(429, Some("31")), None);
    assert_eq!(asked(503, Some("Fri, 31 Dec 2027 23:59:59 GMT")), None);
    assert_eq!(asked(500, Some("1")), None);
    assert_eq!(asked(200, None), None);
}
