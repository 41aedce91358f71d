//! When something is due: a cron expression, a fixed interval, or once. All in a time zone.
//!
//! Where the clock is set forward, a time that does not exist comes at the moment of the change. Where it is set back, a
//! time that comes twice counts once. Expressions that follow the clock (`*/30 * * * *`) run whenever it shows them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use openfang_types::limits::{
    SCHEDULE_HORIZON_YEARS, SCHEDULE_INTERVAL_MAX_DAYS, SCHEDULE_TEXT_MAX_BYTES, TIME_ZONE_MAX_BYTES,
};

pub use cron::Cron;
use phrase::Phrase;

mod cron;
mod phrase;

/// Why a time cannot be used, in a sentence for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TimingError(String);

impl TimingError {
    fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// When something is due, without the time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timing {
    Cron(Cron),
    /// Every so many seconds after a moment.
    Every {
        seconds: u64,
        from: Timestamp,
    },
    Once(Timestamp),
}

/// A time zone, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

impl Zone {
    /// The time zone of this name: of the IANA database, or UTC.
    pub fn named(name: &str) -> Result<Self, TimingError> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
        if name.is_empty() || name.len() > TIME_ZONE_MAX_BYTES || !name.bytes().all(is_plain) {
            return Err(TimingError::new("a time zone has a name such as Europe/Berlin or UTC"));
        }
        if name.eq_ignore_ascii_case("utc") {
            return Ok(Self::utc());
        }
        match TimeZone::get(name) {
            Ok(zone) => Ok(Self { name: zone.iana_name().unwrap_or(name).to_owned(), zone }),
            Err(_) if jiff::tz::db().is_definitively_empty() => Err(TimingError(format!(
                "the time zone {name} cannot be used, because this machine has no time zone data; install the package \
                 tzdata, or use UTC"
            ))),
            Err(_) => Err(TimingError(format!(
                "there is no time zone {name} in the time zone data of this machine; use a name such as Europe/Berlin, or UTC"
            ))),
        }
    }

    /// The time zone that a setting names, or that of the system. UTC where the system does not say.
    pub fn configured(name: &str) -> Result<Self, TimingError> {
        if !name.is_empty() {
            return Self::named(name);
        }
        let system = TimeZone::try_system().ok().and_then(|zone| Some((zone.iana_name()?.to_owned(), zone)));
        Ok(system.map_or_else(Self::utc, |(name, zone)| Self { name, zone }))
    }

    fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// A moment, as the clock shows it there.
    pub fn shown(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// The first moment at which the clock shows this time, or has just been set past it.
    fn first(&self, time: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(time).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(time).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(time).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                let earlier = after.to_timestamp(time).ok()?;
                self.zone.following(earlier).next().map(|change| change.timestamp())
            }
        }
    }
}

impl Timing {
    /// Reads a phrase or a cron expression.
    pub fn parse(text: &str, now: Timestamp, zone: &Zone) -> Result<Self, TimingError> {
        let text = text.trim();
        if text.is_empty() || text.len() > SCHEDULE_TEXT_MAX_BYTES {
            return Err(TimingError(format!("a schedule has 1 to {SCHEDULE_TEXT_MAX_BYTES} characters")));
        }
        let timing = if text.starts_with('@') {
            Self::Cron(Cron::named(text)?)
        } else if text.starts_with(|c: char| c.is_ascii_digit() || c == '*') {
            Self::Cron(Cron::parse(text)?)
        } else {
            Self::of_phrase(phrase::parse(text)?, now, zone)?
        };
        match timing.next(now, zone) {
            Some(_) => Ok(timing),
            None if matches!(timing, Self::Once(_)) => Err(TimingError::new("this time is in the past")),
            None => Err(TimingError::new("there is no such date, so this would never run")),
        }
    }

    fn of_phrase(phrase: Phrase, now: Timestamp, zone: &Zone) -> Result<Self, TimingError> {
        let too_far = || TimingError(format!("an interval has at most {SCHEDULE_INTERVAL_MAX_DAYS} days"));
        let bounded = |seconds: u64| match seconds {
            0 => Err(TimingError::new("the shortest interval is a minute")),
            seconds if seconds > SCHEDULE_INTERVAL_MAX_DAYS * 86_400 => Err(too_far()),
            seconds => Ok(seconds),
        };
        let now = Timestamp::from_second(now.as_second()).map_err(|_| too_far())?;
        match phrase {
            Phrase::Cron(cron) => Ok(Self::Cron(cron)),
            Phrase::Every(seconds) => Ok(Self::Every { seconds: bounded(seconds)?, from: now }),
            Phrase::In(seconds) => {
                let at = now.checked_add(Duration::from_secs(bounded(seconds)?));
                at.map(Self::Once).map_err(|_| too_far())
            }
            Phrase::On(date, time) => {
                let at = zone.first(date.to_datetime(time));
                at.map(Self::Once)
                    .ok_or_else(|| TimingError::new("there is no such time in this time zone"))
            }
        }
    }

    /// The first moment after another one; none if there is none within 40 years.
    pub fn next(&self, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Once(at) => Some(*at).filter(|at| *at > after),
            Self::Every { seconds, from } => {
                let seconds = i64::try_from(*seconds).ok()?.max(1);
                let passed = after.as_second().saturating_sub(from.as_second());
                let whole = if passed < 0 { 0 } else { passed / seconds };
                Timestamp::from_second(from.as_second().checked_add(whole.checked_add(1)?.checked_mul(seconds)?)?).ok()
            }
            Self::Cron(cron) if cron.follows_clock() => next_shown(cron, after, zone),
            Self::Cron(cron) => next_of_day(cron, after, zone),
        }
    }

    /// The first moments after another one.
    pub fn some(&self, after: Timestamp, zone: &Zone, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next(after, zone), |last| self.next(*last, zone))
            .take(count)
            .collect()
    }

    /// The fewest seconds between two moments; none for what happens once.
    pub fn shortest_pause(&self) -> Option<u64> {
        match self {
            Self::Once(_) => None,
            Self::Every { seconds, .. } => Some(*seconds),
            Self::Cron(cron) => u64::try_from(cron.shortest_pause() * 60).ok(),
        }
    }

    /// The cron expression, where there is one.
    pub const fn cron(&self) -> Option<&Cron> {
        match self {
            Self::Cron(cron) => Some(cron),
            Self::Every { .. } | Self::Once(_) => None,
        }
    }

    /// In words, with the time zone.
    pub fn in_words(&self, zone: &Zone) -> String {
        match self {
            Self::Once(at) => format!("once, at {} ({})", zone.shown(*at), zone.name()),
            Self::Every { seconds, from } => {
                let every = match (seconds % 86_400, seconds % 3_600) {
                    (0, _) => format!("{} days", seconds / 86_400),
                    (_, 0) => format!("{} hours", seconds / 3_600),
                    _ => format!("{} minutes", seconds / 60),
                };
                format!("every {every} from {} ({})", zone.shown(*from), zone.name())
            }
            Self::Cron(cron) => {
                let days = cron.days_in_words().unwrap_or_else(|| "every day".to_owned());
                format!("{}, {days} ({})", cron.times_in_words(), zone.name())
            }
        }
    }
}

/// The moments at which the clock shows a time, one by one: there may be two or none of a time.
fn next_shown(cron: &Cron, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let begun = Timestamp::from_second(after.as_second().div_euclid(60).checked_mul(60)?).ok()?;
    let mut at = begun.checked_add(MINUTE).ok()?;
    let last = horizon(zone.zone.to_datetime(after).date());
    loop {
        let local = zone.zone.to_datetime(at);
        if cron.has_date(local.date()) {
            if cron.has_time(local.hour(), local.minute()) {
                return Some(at);
            }
            at = at
                .checked_add(MINUTE * i32::from(cron.minutes_without(local.hour(), local.minute())))
                .ok()?;
        } else {
            let next = next_date(cron, local.date().tomorrow().ok()?, last)?;
            at = zone.first(next.to_datetime(Time::midnight()))?.max(at.checked_add(MINUTE).ok()?);
        }
    }
}

/// The times of each day, once each.
fn next_of_day(cron: &Cron, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let today = zone.zone.to_datetime(after).date();
    let last = horizon(today);
    // The times of yesterday may come today, where the clock is set forward by hours.
    let mut date = today.yesterday().ok()?;
    loop {
        date = next_date(cron, date, last)?;
        let mut moments = cron.times().filter_map(|(hour, minute)| zone.first(date.at(hour, minute, 0, 0)));
        if let Some(at) = moments.find(|at| *at > after) {
            return Some(at);
        }
        date = date.tomorrow().ok()?;
    }
}

fn horizon(from: Date) -> Date {
    from.checked_add(SCHEDULE_HORIZON_YEARS.years()).unwrap_or(Date::MAX)
}

/// The first date that fits, up to the last one that is looked at.
fn next_date(cron: &Cron, from: Date, last: Date) -> Option<Date> {
    let mut date = from;
    while date <= last {
        if !cron.has_month(date) {
            date = date.last_of_month().tomorrow().ok()?;
        } else if cron.has_date(date) {
            return Some(date);
        } else {
            date = date.tomorrow().ok()?;
        }
    }
    None
}

impl fmt::Display for Timing {
    /// As it is stored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => write!(f, "cron {cron}"),
            Self::Every { seconds, from } => write!(f, "every {seconds} {from}"),
            Self::Once(at) => write!(f, "once {at}"),
        }
    }
}

impl FromStr for Timing {
    type Err = TimingError;

    /// Reads what was stored.
    fn from_str(text: &str) -> Result<Self, TimingError> {
        let damaged = || TimingError::new("the stored time is damaged");
        let (kind, rest) = text.split_once(' ').ok_or_else(damaged)?;
        match kind {
            "cron" => Cron::parse(rest).map(Self::Cron),
            "once" => rest.parse().map(Self::Once).map_err(|_| damaged()),
            "every" => {
                let (seconds, from) = rest.split_once(' ').ok_or_else(damaged)?;
                let seconds = seconds.parse().map_err(|_| damaged())?;
                Ok(Self::Every { seconds, from: from.parse().map_err(|_| damaged())? })
            }
            _ => Err(damaged()),
        }
    }
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
