//! Waits in every form in which providers write them.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{duration, of};

fn asked(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
    let pairs = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    of(&pairs.collect::<HeaderMap>())
}

#[test]
fn seconds_milliseconds_and_dates_are_understood() {
    assert_eq!(asked(&[("retry-after", "20")]), Some(Duration::from_secs(20)));
    assert_eq!(asked(&[("retry-after", "1.5")]), Some(Duration::from_millis(1_500)));
    assert_eq!(asked(&[("retry-after-ms", "250"), ("retry-after", "20")]), Some(Duration::from_millis(250)));
    let date = [("date", "Wed, 18 Nov 2026 09:00:00 GMT"), ("retry-after", "Wed, 18 Nov 2026 09:00:30 GMT")];
    assert_eq!(asked(&date), Some(Duration::from_secs(30)));
    let past = [("date", "Wed, 18 Nov 2026 09:00:00 GMT"), ("retry-after", "Wed, 18 Nov 2026 08:00:00 GMT")];
    assert_eq!(asked(&past), Some(Duration::ZERO));
    assert_eq!(asked(&[("retry-after", "Wed, 18 Nov 2026 09:00:30 GMT")]), None);
}

#[test]
fn the_reset_of_the_limit_that_is_used_up_counts() {
    let limits = [
        ("x-ratelimit-remaining-requests", "12"),
        ("x-ratelimit-reset-requests", "1h"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "6m0.5s"),
    ];
    assert_eq!(asked(&limits), Some(Duration::from_millis(360_500)));
    assert_eq!(asked(&[]), None);
}

#[test]
fn nonsense_is_no_wait() {
    for text in ["", "soon", "-5", "NaN", "inf", "1e400"] {
        assert_eq!(asked(&[("retry-after", Box::leak(text.to_owned().into_boxed_str()))]), None, "{text}");
    }
    assert_eq!((duration("5x"), duration("m"), duration("120ms")), (None, None, Some(Duration::from_millis(120))));
}
