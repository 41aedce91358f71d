//! What an answer means for the event that was posted.

use openfang_egress::url::Guard;

use super::*;

#[test]
fn an_answer_says_whether_it_came_may_come_later_or_never_will() {
    for code in 100..600 {
        let status = StatusCode::from_u16(code).unwrap();
        let verdict = judged_status(status, None);

        let is_as_expected = match code {
            200..=299 => matches!(verdict, Verdict::Delivered(_)),
            408 | 429 | 500..=599 => matches!(verdict, Verdict::Failed { after: None, .. }),
            _ => matches!(verdict, Verdict::Refused { .. }),
        };
        assert!(is_as_expected, "{code}: {verdict:?}");
    }
}

#[test]
fn a_receiver_may_ask_for_patience_up_to_a_bound() {
    for (asked, expected) in [
        ("7", Some(Duration::from_secs(7))),
        (" 0 ", Some(Duration::ZERO)),
        ("999999", Some(PUSH_RETRY_AFTER_MAX)),
        ("-1", None),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ] {
        let asked = HeaderValue::from_str(asked).unwrap();
        let verdict = judged_status(StatusCode::TOO_MANY_REQUESTS, Some(&asked));

        assert!(matches!(verdict, Verdict::Failed { after, .. } if after == expected), "{asked:?}: {verdict:?}");
    }
}

#[test]
fn a_place_that_is_refused_is_not_tried_again() {
    let refused = Guard::default().foreign("http://169.254.169.254/").unwrap_err();
    let verdict = judged(Err(HttpError::Refused(refused)));
    assert!(matches!(verdict, Verdict::Refused { .. }), "{verdict:?}");

    let origin = Guard::default().foreign("https://hooks.example.com/secret?key=s3cret").unwrap().origin();
    let verdict = judged(Err(HttpError::TookTooLong { origin, after: PUSH_TIMEOUT }));
    let Verdict::Failed { why, after: None } = verdict else { panic!("{verdict:?}") };
    assert!(!why.contains("s3cret"), "{why}");
}
