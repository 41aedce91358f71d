//! Canonical JSON (RFC 8785): equal values give equal bytes, independent of the writer.

use serde_json::{Number, Value};

/// The canonical text of a value.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, to: &mut String) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(true) => to.push_str("true"),
        Value::Bool(false) => to.push_str("false"),
        Value::Number(number) => to.push_str(&written(number)),
        Value::String(text) => write_string(text, to),
        Value::Array(items) => {
            to.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    to.push(',');
                }
                write_value(item, to);
            }
            to.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            to.push('{');
            for (at, (key, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    to.push(',');
                }
                write_string(key, to);
                to.push(':');
                write_value(value, to);
            }
            to.push('}');
        }
    }
}

/// serde_json escapes exactly as the RFC requires: the short forms, `\u00xx` in lower case for other control
/// characters, nothing else.
fn write_string(text: &str, to: &mut String) {
    to.push_str(&Value::from(text).to_string());
}

/// Formats a number like ECMAScript's `Number::toString`, where every number is a double.
fn written(number: &Number) -> String {
    let value = number.as_f64().unwrap_or_default();
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    // serde_json finds the shortest digits that read back as the same number, and of two equally near ones the even
    // one. The formatting of the standard library chooses differently from ECMAScript.
    let shortest = Value::from(value.abs()).to_string();
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let leading = all.len().saturating_sub(digits.len());
    let point = exponent.parse::<i32>().unwrap_or_default() + small(whole.len()) - small(leading);
    format!("{sign}{}", placed(digits.trim_end_matches('0'), point))
}

/// A count of digits. For a double it always fits.
fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The digits with the decimal point after the first `point` of them.
fn placed(digits: &str, point: i32) -> String {
    let zeros = |count: usize| "0".repeat(count);
    match (point, usize::try_from(point)) {
        (1..=21, Ok(point)) => match digits.split_at_checked(point) {
            Some((whole, "")) => whole.to_owned(),
            Some((whole, rest)) => format!("{whole}.{rest}"),
            None => format!("{digits}{}", zeros(point.saturating_sub(digits.len()))),
        },
        (-5..=0, _) => {
            format!("0.{}{digits}", zeros(usize::try_from(point.unsigned_abs()).unwrap_or_default()))
        }
        (point, _) => {
            let exponent = point.saturating_sub(1);
            let sign = if exponent < 0 { '-' } else { '+' };
            let exponent = exponent.unsigned_abs();
            match digits.split_at_checked(1) {
                Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}e{sign}{exponent}"),
                Some(_) | None => format!("{digits}e{sign}{exponent}"),
            }
        }
    }
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
