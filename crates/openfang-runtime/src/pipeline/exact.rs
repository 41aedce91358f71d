//! Whether arguments mean what they are shown and checked as: JSON that somebody wrote is handed on as it was written, and looked
//! at as it was parsed.
//!
//! The two differ where a number has more digits than it is parsed with, and where a member is named twice: of those, parsing
//! keeps the last.

use std::collections::HashSet;
use std::fmt;

use openfang_types::call::Arguments;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Whether what was parsed is all that was written.
pub(super) fn is_exact(arguments: &Arguments<'_>) -> bool {
    let Some(raw) = arguments.as_written() else { return true };
    has_exact_numbers(raw.get()) && serde_json::from_str::<WithoutDuplicates>(raw.get()).is_ok()
}

/// Whether every number of a JSON text is parsed with all of its digits.
fn has_exact_numbers(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(string) = rest.strip_prefix('"') {
            rest = behind_string(string);
            continue;
        }
        let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
        if !is_exact_number(&rest[..end]) {
            return false;
        }
        rest = &rest[end..];
    }
    true
}

/// What comes after a string that has begun.
fn behind_string(text: &str) -> &str {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return &text[at + 1..],
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    ""
}

fn is_exact_number(written: &str) -> bool {
    let Ok(parsed) = written.parse::<serde_json::Number>() else { return false };
    let parsed = parsed.to_string();
    parsed == written || digits(&parsed) == digits(written)
}

/// The digits of a number without zeros around them, and where they stand. None for an exponent that no number needs.
fn digits(number: &str) -> Option<(bool, String, i64)> {
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_start_matches('0');
    if kept.is_empty() {
        return Some((is_negative, String::new(), 0));
    }
    let leading = i64::try_from(all.len() - kept.len()).ok()?;
    let place = i64::try_from(whole.len()).ok()? - leading;
    let place = place.checked_add(exponent.parse::<i64>().ok()?)?;
    Some((is_negative, kept.trim_end_matches('0').to_owned(), place))
}

/// JSON in which no object names a member twice.
struct WithoutDuplicates;

impl<'de> Deserialize<'de> for WithoutDuplicates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = WithoutDuplicates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without members that are named twice")
    }

    fn visit_bool<E>(self, _: bool) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_i64<E>(self, _: i64) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_u64<E>(self, _: u64) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_f64<E>(self, _: f64) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_str<E>(self, _: &str) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_unit<E>(self) -> Result<WithoutDuplicates, E> {
        Ok(WithoutDuplicates)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WithoutDuplicates, A::Error> {
        while items.next_element::<WithoutDuplicates>()?.is_some() {}
        Ok(WithoutDuplicates)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<WithoutDuplicates, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                return Err(serde::de::Error::custom("a member is named twice"));
            }
            members.next_value::<WithoutDuplicates>()?;
        }
        Ok(WithoutDuplicates)
    }
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
