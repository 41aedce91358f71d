//! Times in time zones, against a plain walk over every minute of three years.

use std::collections::HashMap;

use jiff::{Timestamp, ToSpan as _};

use super::{Cron, Timing, Zone};

/// Zones with changes at midnight, of half an hour, of none, and on both halves of the world.
const ZONES: [&str; 12] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/St_Johns",
    "America/Santiago",
    "America/Nuuk",
    "Asia/Kolkata",
    "Asia/Beirut",
    "Africa/Cairo",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
];

const EXPRESSIONS: [&str; 9] = [
    "30 2 * * *",
    "0 0 * * *",
    "15,45 1-3 * * *",
    "*/30 * * * *",
    "*/20 2 * * *",
    "5 * * * 0",
    "0 9 * * 1-5",
    "30 23 1,15 * 6",
    "0 12 29 2 *",
];

/// What the clock shows, minute by minute. Minutes are counted from 1970, here and on the clock.
struct Walk {
    shown: Vec<(i64, i64)>,
    /// The first minute at which the clock shows a time.
    first: HashMap<i64, i64>,
}

const DAY: i64 = 24 * 60;

impl Walk {
    fn of(zone: &Zone, from: Timestamp, to: Timestamp) -> Self {
        let (from, to) = (from.as_second() / 60, to.as_second() / 60);
        let mut shown = Vec::new();
        // No zone changes its offset within a quarter of an hour.
        for quarter in (from..to).step_by(15) {
            let at = Timestamp::from_second(quarter * 60).unwrap();
            let offset = i64::from(zone.zone.to_offset(at).seconds()) / 60;
            shown.extend((quarter..quarter + 15).map(|minute| (minute, minute + offset)));
        }
        let mut first = HashMap::new();
        shown.iter().for_each(|(minute, local)| _ = first.entry(*local).or_insert(*minute));
        Self { shown, first }
    }

    fn expected(&self, text: &str) -> Vec<Timestamp> {
        let cron = Cron::parse(text).unwrap();
        let (begin, end) = (self.shown[0].1, self.shown[self.shown.len() - 1].1);
        let epoch = jiff::civil::date(1970, 1, 1);
        let days: HashMap<i64, bool> = (begin / DAY - 1..=end / DAY + 1)
            .map(|day| (day, cron.has_date(epoch.checked_add(day.days()).unwrap())))
            .collect();
        let fits = |local: i64| {
            let of_day = local.rem_euclid(DAY);
            let number = |value: i64| i8::try_from(value).unwrap();
            days[&local.div_euclid(DAY)] && cron.has_time(number(of_day / 60), number(of_day % 60))
        };
        let mut found: Vec<i64> = if text.split(' ').take(2).any(|field| field.starts_with('*')) {
            self.shown.iter().filter(|(_, local)| fits(*local)).map(|(minute, _)| *minute).collect()
        } else {
            let mut place = 0;
            let mut moment = |local: i64| {
                self.first.get(&local).copied().unwrap_or_else(|| {
                    // The time does not exist: the first minute at which it is past.
                    place += self.shown[place..].iter().position(|(_, shown)| *shown > local).unwrap();
                    self.shown[place].0
                })
            };
            (begin..=end).filter(|local| fits(*local)).map(&mut moment).collect()
        };
        found.dedup();
        found.into_iter().map(|minute| Timestamp::from_second(minute * 60).unwrap()).collect()
    }
}

#[test]
fn three_years_in_twelve_zones_are_as_a_walk_over_every_minute_says() {
    let from: Timestamp = "2026-01-10T00:00:00Z".parse().unwrap();
    let to: Timestamp = "2029-01-10T00:00:00Z".parse().unwrap();
    for name in ZONES {
        let zone = Zone::named(name).unwrap();
        let walk = Walk::of(&zone, from, to);
        for text in EXPRESSIONS {
            let timing = Timing::Cron(Cron::parse(text).unwrap());
            let expected = walk.expected(text);
            let expected: Vec<Timestamp> = expected.into_iter().filter(|at| *at > from).collect();
            let found: Vec<Timestamp> =
                std::iter::successors(timing.next(from, &zone), |last| timing.next(*last, &zone))
                    .take_while(|at| *at < to)
                    .collect();
            assert!(!found.is_empty());
            let wrong = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert_eq!(wrong, None, "{text} in {name}");
            // A time of the last day that does not exist may come after the walk.
            assert!(found.len().abs_diff(expected.len()) <= 1, "{text} in {name}");
        }
    }
}

fn next(text: &str, zone: &str, after: &str) -> Vec<String> {
    let zone = Zone::named(zone).unwrap();
    let after = after.parse().unwrap();
    let timing = Timing::parse(text, after, &zone).unwrap();
    timing.some(after, &zone, 3).into_iter().map(|at| zone.shown(at)).collect()
}

#[test]
fn a_time_in_the_gap_comes_at_its_end_and_one_that_comes_twice_counts_once() {
    assert_eq!(
        next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"),
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"]
    );
    assert_eq!(
        next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z"),
        ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00", "2026-10-27T02:30:00+01:00"]
    );
    assert_eq!(
        next("every 30 minutes", "Europe/Berlin", "2026-10-25T00:29:00Z"),
        ["2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"]
    );
    assert_eq!(next("on 2026-03-29 02:30", "Europe/Berlin", "2026-01-01T00:00:00Z"), ["2026-03-29T03:00:00+02:00"]);
}

#[test]
fn times_that_never_come_are_refused() {
    let now = "2026-06-01T12:00:00Z".parse().unwrap();
    let zone = Zone::named("UTC").unwrap();
    for (text, says) in [
        ("0 0 31 2 *", "never run"),
        ("0 0 30 feb *", "never run"),
        ("on 2020-01-01 08:00", "in the past"),
        ("every 1000000000 days", "at most 366 days"),
        ("every 0 minutes", "the shortest interval is a minute"),
        ("", "1 to 200 characters"),
        (&"9 ".repeat(200), "1 to 200 characters"),
    ] {
        let error = Timing::parse(text, now, &zone).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert!(Timing::parse("0 0 29 2 *", now, &zone).is_ok());
}

#[test]
fn a_time_is_read_as_it_was_stored() {
    let now = "2026-06-01T12:00:30Z".parse().unwrap();
    let zone = Zone::named("Asia/Kolkata").unwrap();
    for text in ["weekdays at 9:30am", "every 45 minutes", "in 3 hours", "@weekly"] {
        let timing = Timing::parse(text, now, &zone).unwrap();
        assert_eq!(timing.to_string().parse(), Ok(timing));
    }
    for damaged in ["", "cron", "cron x", "once x", "every 5", "every x 2026-01-01T00:00:00Z"] {
        assert!(damaged.parse::<Timing>().is_err(), "{damaged}");
    }
}

#[test]
fn an_interval_goes_on_from_its_beginning_whatever_the_clock_did() {
    let zone = Zone::named("UTC").unwrap();
    let from: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
    let timing = Timing::parse("every 45 minutes", from, &zone).unwrap();
    assert_eq!(timing.next(from, &zone), Some(from + 45.minutes()));
    assert_eq!(timing.next(from + 100.minutes(), &zone), Some(from + 135.minutes()));
    assert_eq!(timing.next(from - 48.hours(), &zone), Some(from + 45.minutes()));
}

#[test]
fn zones_have_names() {
    for wrong in ["", "Mars/Olympus", "../../../etc/passwd", "Europe/Berlin\n", &"a".repeat(65), "EST5EDT4,M3"] {
        assert!(Zone::named(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(Zone::named("utc").unwrap().name(), "UTC");
    assert!(!Zone::configured("").unwrap().name().is_empty());
}
