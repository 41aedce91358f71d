//! Phrases: `every 30 minutes`, `weekdays at 9:30am`, `in 2 hours`, `on 2026-12-01 08:00`. A phrase becomes a cron
//! expression where there is one for it.

use jiff::civil::{Date, Time};

use super::TimingError;
use super::cron::Cron;

/// What a phrase says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Phrase {
    Cron(Cron),
    /// Every so many seconds, from now on.
    Every(u64),
    /// Once, in so many seconds.
    In(u64),
    /// Once, at this time.
    On(Date, Time),
}

const HELP: &str = "use a phrase such as \"every 30 minutes\", \"daily at 9:30am\", \"weekdays at 9\", \"monday and friday at \
                    17:00\", \"in 2 hours\" or \"on 2030-12-01 08:00\", or a cron expression of five fields such as \"30 9 * * 1-5\"";

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Reads a phrase of lower and upper case words.
pub(super) fn parse(text: &str) -> Result<Phrase, TimingError> {
    let text = text.to_lowercase().replace(',', " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["in", amount, unit] => Ok(Phrase::In(seconds(amount, unit)?)),
        ["on", date, ref rest @ ..] => on(date, rest),
        ["hourly"] => every("1", "hour"),
        ["every", unit] if unit_of(unit).is_some() => every_on("1", unit, &[]),
        ["every", amount, unit, ref rest @ ..] if is_number(amount) => every_on(amount, unit, rest),
        ["every", ref rest @ ..] => on_days(rest),
        _ => on_days(&words),
    }
}

fn on(date: &str, rest: &[&str]) -> Result<Phrase, TimingError> {
    let date: Date = date
        .parse()
        .map_err(|_| TimingError(format!("there is no date {}; {HELP}", quoted(date))))?;
    let time = match rest {
        ["at", time @ ..] | time => time_of(time)?,
    };
    Ok(Phrase::On(date, time))
}

/// `every 2 days at 9:00` has a time of day; the others have none.
fn every_on(amount: &str, unit: &str, rest: &[&str]) -> Result<Phrase, TimingError> {
    match (rest, amount, unit_of(unit)) {
        ([], _, _) => every(amount, unit),
        (["at", time @ ..], "1", Some(DAY)) => daily("*", time),
        _ => Err(TimingError(format!("an interval has no time of day; {HELP}"))),
    }
}

fn every(amount: &str, unit: &str) -> Result<Phrase, TimingError> {
    let seconds = seconds(amount, unit)?;
    let cron = match (seconds, seconds / MINUTE, seconds / HOUR) {
        (MINUTE, _, _) => "* * * * *".to_owned(),
        (HOUR, _, _) => "0 * * * *".to_owned(),
        (DAY, _, _) => "0 0 * * *".to_owned(),
        (_, minutes @ 2..60, _) if 60 % minutes == 0 => format!("*/{minutes} * * * *"),
        (_, _, hours @ 2..24) if 24 % hours == 0 && seconds % HOUR == 0 => format!("0 */{hours} * * *"),
        _ => return Ok(Phrase::Every(seconds)),
    };
    Cron::parse(&cron).map(Phrase::Cron)
}

fn on_days(words: &[&str]) -> Result<Phrase, TimingError> {
    let at = words.iter().position(|word| *word == "at");
    let (days, time) = words.split_at(at.unwrap_or(words.len()));
    let time: &[&str] = if time.is_empty() { &["00:00"] } else { &time[1..] };
    let days = match days {
        ["daily" | "day"] => "*".to_owned(),
        ["weekday" | "weekdays"] => "1-5".to_owned(),
        ["weekend" | "weekends"] => "0,6".to_owned(),
        [] => return Err(unknown(words)),
        names => {
            let names = names.iter().filter(|word| **word != "and").map(|name| weekday(name));
            let days: Option<Vec<&str>> = names.collect();
            days.filter(|days| !days.is_empty()).ok_or_else(|| unknown(words))?.join(",")
        }
    };
    daily(&days, time)
}

fn daily(weekdays: &str, time: &[&str]) -> Result<Phrase, TimingError> {
    let time = time_of(time)?;
    Cron::parse(&format!("{} {} * * {weekdays}", time.minute(), time.hour())).map(Phrase::Cron)
}

fn unknown(words: &[&str]) -> TimingError {
    TimingError(format!("{} is not understood; {HELP}", quoted(&words.join(" "))))
}

fn weekday(name: &str) -> Option<&'static str> {
    let names = [
        ("sunday", "0"),
        ("monday", "1"),
        ("tuesday", "2"),
        ("wednesday", "3"),
        ("thursday", "4"),
        ("friday", "5"),
        ("saturday", "6"),
    ];
    let name = name.strip_suffix('s').unwrap_or(name);
    let is_it = |full: &str| full == name || (name.len() >= 3 && full.starts_with(name));
    names.into_iter().find(|(full, _)| is_it(full)).map(|(_, day)| day)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn unit_of(unit: &str) -> Option<u64> {
    match unit {
        "minute" | "minutes" | "min" | "mins" => Some(MINUTE),
        "hour" | "hours" => Some(HOUR),
        "day" | "days" => Some(DAY),
        "week" | "weeks" => Some(7 * DAY),
        _ => None,
    }
}

fn seconds(amount: &str, unit: &str) -> Result<u64, TimingError> {
    if matches!(unit, "second" | "seconds" | "sec" | "secs") {
        return Err(TimingError::new("seconds are not supported; the shortest interval is a minute"));
    }
    let amount: Option<u64> = is_number(amount).then(|| amount.parse().ok()).flatten();
    let seconds = amount.zip(unit_of(unit)).and_then(|(amount, unit)| amount.checked_mul(unit));
    seconds.ok_or_else(|| TimingError(format!("an interval is a number of minutes, hours, days or weeks; {HELP}")))
}

/// `9`, `9am`, `9:30`, `9:30 pm`, `21:15`, `noon`, `midnight`.
fn time_of(words: &[&str]) -> Result<Time, TimingError> {
    let text = words.concat();
    let wrong = || TimingError(format!("{} is not a time of day; use one such as 9:30am or 21:15", quoted(&text)));
    let (clock, half) = match text.as_str() {
        "noon" => ("12", "pm"),
        "midnight" => ("12", "am"),
        text => match text.strip_suffix("am").map(|clock| (clock, "am")) {
            Some(morning) => morning,
            None => text.strip_suffix("pm").map_or((text, ""), |clock| (clock, "pm")),
        },
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "00"));
    let number = |text: &str| (is_number(text) && text.len() <= 2).then(|| text.parse::<i8>().ok()).flatten();
    let hour = number(hour).ok_or_else(wrong)?;
    let minute = number(minute).filter(|_| minute.len() == 2).ok_or_else(wrong)?;
    let hour = match (half, hour) {
        ("am", 12) => 0,
        ("pm", 12) => 12,
        ("am", 1..=11) | ("", 0..=23) => hour,
        ("pm", 1..=11) => hour + 12,
        _ => return Err(wrong()),
    };
    Time::new(hour, minute, 0, 0).map_err(|_| wrong())
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("{shown:?}")
}

#[cfg(test)]
#[path = "phrase_tests.rs"]
mod tests;
