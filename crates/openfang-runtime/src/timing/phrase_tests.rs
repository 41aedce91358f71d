//! Phrases, and the cron expressions that they become.

use super::{Phrase, parse};

#[test]
fn phrases_become_cron_expressions() {
    for (text, cron) in [
        ("every minute", "* * * * *"),
        ("every 30 minutes", "*/30 * * * *"),
        ("Every 1 Hour", "0 * * * *"),
        ("hourly", "0 * * * *"),
        ("every 120 minutes", "0 */2 * * *"),
        ("every 24 hours", "0 0 * * *"),
        ("daily", "0 0 * * *"),
        ("daily at 9:30am", "30 9 * * *"),
        ("every day at 9", "0 9 * * *"),
        ("every 1 day at 12am", "0 0 * * *"),
        ("weekdays at 9:30 pm", "30 21 * * 1-5"),
        ("weekends at noon", "0 12 * * 0,6"),
        ("every Monday at 12:05am", "5 0 * * 1"),
        ("mondays and fridays at 17:00", "0 17 * * 1,5"),
        ("tue, thu at 8", "0 8 * * 2,4"),
    ] {
        match parse(text) {
            Ok(Phrase::Cron(parsed)) => assert_eq!(parsed.to_string(), cron, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_no_cron_expression_says_is_an_interval_or_happens_once() {
    assert_eq!(parse("every 45 minutes"), Ok(Phrase::Every(45 * 60)));
    assert_eq!(parse("every 2 weeks"), Ok(Phrase::Every(14 * 86_400)));
    assert_eq!(parse("in 2 hours"), Ok(Phrase::In(7_200)));
    let on = Phrase::On(jiff::civil::date(2026, 12, 1), jiff::civil::time(8, 0, 0, 0));
    assert_eq!(parse("on 2026-12-01 08:00"), Ok(on));
    assert!(matches!(parse("on 2026-12-01 at 8pm"), Ok(Phrase::On(..))));
}

#[test]
fn what_is_not_understood_says_what_is() {
    for (text, says) in [
        ("every 5 seconds", "seconds are not supported"),
        ("sometimes", "is not understood"),
        ("and", "is not understood"),
        ("daily at 25:00", "is not a time of day"),
        ("daily at 13pm", "is not a time of day"),
        ("daily at 9:5", "is not a time of day"),
        ("daily at", "is not a time of day"),
        ("every 99999999999999999999 days", "an interval is a number"),
        ("every 9999999999999999999 days", "an interval is a number"),
        ("every 3 days at 9", "an interval has no time of day"),
        ("on 2026-02-30 08:00", "there is no date"),
        ("in -1 hours", "an interval is a number"),
        ("every \u{0}\u{7} at 9", "is not understood"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says) && !error.chars().any(char::is_control), "{text}: {error}");
    }
}
