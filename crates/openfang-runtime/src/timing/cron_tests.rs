//! Cron expressions: what is read, and what is refused with which words.

use super::Cron;

#[test]
fn fields_are_numbers_ranges_lists_steps_and_names() {
    for (text, times, days) in [
        ("30 9 * * 1-5", "at 09:30", Some("Mondays to Fridays")),
        ("0 0 1,15 * *", "at 00:00", Some("on day 1, 15 of the month")),
        ("*/15 * * * *", "every 15 minutes, from the full hour", None),
        ("5 * * * *", "every hour at minute 5", None),
        ("0 */6 * * *", "every 6 hours, from midnight", None),
        ("0 8-18/5 * JAN,dec sun", "at 08:00, 13:00, 18:00", Some("Sundays in January, December")),
        ("0 0 13 * fri", "at 00:00", Some("on day 13 of the month and Fridays")),
        ("0 0 * * 7", "at 00:00", Some("Sundays")),
        ("* * * * *", "every minute", None),
        ("0-40/10 9 * * *", "at 09:00, 09:10, 09:20, 09:30, 09:40", None),
    ] {
        let cron = Cron::parse(text).unwrap();
        assert_eq!((cron.times_in_words().as_str(), cron.days_in_words().as_deref()), (times, days), "{text}");
        assert_eq!(Cron::parse(&cron.to_string()).unwrap(), cron);
    }
}

#[test]
fn what_is_not_one_is_refused_with_the_field_that_is_wrong() {
    for (text, says) in [
        ("0 30 9 * * 1-5", "seconds and years are not supported"),
        ("0 9 * *", "not 4"),
        ("60 * * * *", "use 0 to 59"),
        ("* 24 * * *", "use 0 to 23"),
        ("* * 0 * *", "use 1 to 31"),
        ("* * * 13 *", "use 1 to 12"),
        ("* * * * 8", "use 0 to 7"),
        ("*/0 * * * *", "a step is 1 or more"),
        ("5/2 * * * *", "a step follows"),
        ("9-5 * * * *", "ends before it begins"),
        ("? * * * *", "not a number"),
        ("* * L * *", "day of the month"),
        ("1, * * * *", "not a number"),
        ("99999999999 * * * *", "not a number"),
        ("* * * * mon#2", "day of the week"),
        ("\u{661} * * * *", "not a number"),
    ] {
        let error = Cron::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert!(Cron::named("@reboot").unwrap_err().to_string().contains("@daily"));
}
