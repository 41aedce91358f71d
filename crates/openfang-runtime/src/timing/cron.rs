//! Cron expressions of five fields: minute, hour, day of the month, month, day of the week.
//!
//! A field is `*`, a number, a range, a list, or one of these with a step (`*/15`, `8-18/2`). Months and days of the
//! week have names, too. If both the day of the month and the day of the week are restricted, either is enough.

use std::fmt;

use jiff::civil::{Date, Weekday};

use super::TimingError;

/// A cron expression of five fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: FieldSet,
    hours: FieldSet,
    days: FieldSet,
    months: FieldSet,
    weekdays: FieldSet,
}

/// The values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FieldSet {
    bits: u64,
    /// Whether it begins with a star.
    is_star: bool,
}

/// What a field may have.
struct FieldRule {
    what: &'static str,
    first: u8,
    last: u8,
    names: &'static [&'static str],
}

const MINUTE: FieldRule = FieldRule { what: "minute", first: 0, last: 59, names: &[] };
const HOUR: FieldRule = FieldRule { what: "hour", first: 0, last: 23, names: &[] };
const DAY: FieldRule = FieldRule { what: "day of the month", first: 1, last: 31, names: &[] };
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH: FieldRule = FieldRule { what: "month", first: 1, last: 12, names: &MONTHS };
/// Sunday is 0 and 7.
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const WEEKDAY: FieldRule = FieldRule { what: "day of the week", first: 0, last: 7, names: &WEEKDAYS };

impl Cron {
    /// Reads an expression of five fields.
    pub fn parse(text: &str) -> Result<Self, TimingError> {
        let text = text.to_ascii_lowercase();
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(match fields.len() {
                6 | 7 => TimingError::new(
                    "a cron expression has five fields here: minute, hour, day of the month, month, day of the week; \
                     seconds and years are not supported",
                ),
                count => TimingError(format!(
                    "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not {count}"
                )),
            });
        };
        let mut weekdays = WEEKDAY.set(weekday)?;
        if weekdays.has(7) {
            weekdays.bits |= 1;
        }
        Ok(Self {
            minutes: MINUTE.set(minute)?,
            hours: HOUR.set(hour)?,
            days: DAY.set(day)?,
            months: MONTH.set(month)?,
            weekdays,
            text: fields.join(" "),
        })
    }

    /// The expression of a word such as `@daily`.
    pub fn named(word: &str) -> Result<Self, TimingError> {
        let fields = match word.to_ascii_lowercase().as_str() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            _ => {
                return Err(TimingError::new(
                    "use one of @hourly, @daily, @weekly, @monthly and @yearly; there are no other words with @",
                ));
            }
        };
        Self::parse(fields)
    }

    /// Whether it goes with the clock: every hour or every so many minutes, however often the clock shows them. Other
    /// expressions name times of a day, and each of these comes once a day.
    pub(super) const fn follows_clock(&self) -> bool {
        self.minutes.is_star || self.hours.is_star
    }

    pub(super) fn has_month(&self, date: Date) -> bool {
        self.months.has(date.month())
    }

    pub(super) fn has_date(&self, date: Date) -> bool {
        let is_day = self.days.has(date.day());
        let is_weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let is_either = !self.days.is_star && !self.weekdays.is_star;
        self.has_month(date) && if is_either { is_day || is_weekday } else { is_day && is_weekday }
    }

    pub(super) const fn has_time(&self, hour: i8, minute: i8) -> bool {
        self.hours.has(hour) && self.minutes.has(minute)
    }

    /// For how many minutes there is no time of the expression, from one that is none. Never beyond a quarter of an hour:
    /// that is where clocks are changed.
    pub(super) fn minutes_without(&self, hour: i8, minute: i8) -> i8 {
        let rest = 15 - minute % 15;
        (1..rest).find(|more| self.has_time(hour, minute + more)).unwrap_or(rest)
    }

    /// The times of a day, in order.
    pub(super) fn times(&self) -> impl Iterator<Item = (i8, i8)> {
        let hours = (0..24).filter(|hour| self.hours.has(*hour));
        hours.flat_map(|hour| (0..60).filter(|minute| self.minutes.has(*minute)).map(move |minute| (hour, minute)))
    }

    /// The fewest minutes between two times of a day, or of a day and the next one.
    pub(super) fn shortest_pause(&self) -> i64 {
        let minutes: Vec<i64> = self.times().map(|(hour, minute)| i64::from(hour) * 60 + i64::from(minute)).collect();
        let (Some(first), Some(last)) = (minutes.first(), minutes.last()) else { return 0 };
        let over_night = first + 24 * 60 - last;
        minutes.windows(2).map(|pair| pair[1] - pair[0]).fold(over_night, i64::min)
    }

    /// The days in words; none for every day.
    pub(super) fn days_in_words(&self) -> Option<String> {
        let of_week = (!self.weekdays.is_every(0, 6)).then(|| self.weekdays_in_words());
        let days = || (1..=31).filter(|day| self.days.has(*day)).map(|day: i8| day.to_string());
        let of_month = (!self.days.is_every(1, 31))
            .then(|| format!("on day {} of the month", days().collect::<Vec<_>>().join(", ")));
        let glue = if self.days.is_star || self.weekdays.is_star { " that are " } else { " and " };
        let days = match (of_month, of_week) {
            (Some(month), Some(week)) => Some(format!("{month}{glue}{week}")),
            (one, other) => one.or(other),
        };
        let months = (!self.months.is_every(1, 12)).then(|| {
            let named = (1_i8..=12).filter(|month| self.months.has(*month));
            let names: Vec<&str> = named
                .filter_map(|month| LONG_MONTHS.get(usize::try_from(month).ok()? - 1))
                .copied()
                .collect();
            format!("in {}", names.join(", "))
        });
        let words: Vec<String> = days.into_iter().chain(months).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    fn weekdays_in_words(&self) -> String {
        let held = |day: Weekday| self.weekdays.has(day.to_sunday_zero_offset());
        let week = [
            (Weekday::Monday, "Mondays"),
            (Weekday::Tuesday, "Tuesdays"),
            (Weekday::Wednesday, "Wednesdays"),
            (Weekday::Thursday, "Thursdays"),
            (Weekday::Friday, "Fridays"),
            (Weekday::Saturday, "Saturdays"),
            (Weekday::Sunday, "Sundays"),
        ];
        let named: Vec<&str> = week.iter().filter(|(day, _)| held(*day)).map(|(_, name)| *name).collect();
        match named[..] {
            ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays"] => "Mondays to Fridays".to_owned(),
            _ => named.join(", "),
        }
    }

    /// The times in words.
    pub(super) fn times_in_words(&self) -> String {
        let [minute, hour] = {
            let mut fields = self.text.split(' ');
            [fields.next().unwrap_or_default(), fields.next().unwrap_or_default()]
        };
        let named: Vec<String> = self.times().take(9).map(|(hour, minute)| format!("{hour:02}:{minute:02}")).collect();
        match (minute, hour) {
            ("*", "*") => "every minute".to_owned(),
            (minute, "*") if minute.starts_with("*/") => format!("every {} minutes, from the full hour", &minute[2..]),
            ("0", "*") => "every hour".to_owned(),
            (minute, "*") => format!("every hour at minute {minute}"),
            ("0", hour) if hour.starts_with("*/") => format!("every {} hours, from midnight", &hour[2..]),
            _ if named.len() <= 8 => format!("at {}", named.join(", ")),
            (minute, hour) => format!("at minute {minute} of hour {hour}"),
        }
    }
}

const LONG_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FieldSet {
    const fn has(self, value: i8) -> bool {
        value >= 0 && self.bits & (1 << value) != 0
    }

    fn is_every(self, first: i8, last: i8) -> bool {
        (first..=last).all(|value| self.has(value))
    }
}

impl FieldRule {
    fn set(&self, text: &str) -> Result<FieldSet, TimingError> {
        let mut bits = 0;
        for item in text.split(',') {
            bits |= self.item(item)?;
        }
        Ok(FieldSet { bits, is_star: text.starts_with('*') })
    }

    fn item(&self, text: &str) -> Result<u64, TimingError> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, self.number(step)?),
            None => (text, 1),
        };
        if step == 0 {
            return Err(self.wrong(text, "a step is 1 or more"));
        }
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.first, self.last),
            Some((first, last)) => (self.value(first)?, self.value(last)?),
            None if range.len() < text.len() => {
                return Err(self.wrong(text, "a step follows * or a range"));
            }
            None => {
                let value = self.value(range)?;
                (value, value)
            }
        };
        if first > last {
            return Err(self.wrong(text, "the range ends before it begins"));
        }
        Ok((first..=last).step_by(step.into()).fold(0, |bits, value| bits | 1 << value))
    }

    fn value(&self, text: &str) -> Result<u8, TimingError> {
        if let Some(place) = self.names.iter().position(|name| *name == text) {
            return Ok(self.first + u8::try_from(place).unwrap_or_default());
        }
        let value = self.number(text)?;
        if !(self.first..=self.last).contains(&value) {
            return Err(self.wrong(text, &format!("use {} to {}", self.first, self.last)));
        }
        Ok(value)
    }

    fn number(&self, text: &str) -> Result<u8, TimingError> {
        let is_number = !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
        let number = is_number.then(|| text.parse().ok()).flatten();
        number.ok_or_else(|| self.wrong(text, "it is not a number, * or a range"))
    }

    fn wrong(&self, text: &str, why: &str) -> TimingError {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(20).collect();
        TimingError(format!("the {} {shown:?} of the cron expression is not valid: {why}", self.what))
    }
}

#[cfg(test)]
#[path = "cron_tests.rs"]
mod tests;
