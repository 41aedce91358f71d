//! Calls and figures on a line each. Names and arguments are a stranger's: they are escaped and cut.

use openfang_types::limits::CHAT_CALL_LINE_CHARS;
use openfang_types::task::{CallNote, CallNoteOutcome, TurnUsage};
use serde_json::Value;

use crate::output::one_line;

/// A call as a line: `add_numbers(a=3, b=7)  12 ms`.
pub(super) fn call_line(call: &CallNote) -> String {
    let end = match call.outcome {
        CallNoteOutcome::Done => duration(call.millis),
        CallNoteOutcome::Failed => format!("failed, {}", duration(call.millis)),
        CallNoteOutcome::Denied => "denied".to_owned(),
    };
    let arguments = match &call.arguments {
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}={}", word(value))).collect();
            members.join(", ")
        }
        Value::Null => String::new(),
        other => word(other),
    };
    let line = one_line(&format!("{}({arguments})", call.tool));
    format!("{}  {end}", cut(&line))
}

/// A value, without quotes where it is one plain word.
fn word(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "\"',=()".contains(c)) => {
            text.to_owned()
        }
        _ => value.to_string(),
    }
}

fn cut(line: &str) -> String {
    let mut chars = line.chars();
    let short: String = chars.by_ref().take(CHAT_CALL_LINE_CHARS).collect();
    if chars.next().is_some() { format!("{short}…") } else { short }
}

pub(super) fn duration(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{millis} ms"),
        10_000..120_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}

/// What a turn took: `1.2k in (91 % cached), 230 out, $0.0041, 3 steps`.
pub(super) fn usage_line(usage: &TurnUsage) -> String {
    let mut line = format!("{} in", tokens(usage.input_tokens));
    if let Some(cached) = usage.cached_tokens {
        line.push_str(&format!(" ({} % cached)", percent(cached, usage.input_tokens)));
    }
    line.push_str(&format!(", {} out", tokens(usage.output_tokens)));
    if let Some(cost) = usage.cost_usd {
        line.push_str(&format!(", {}", dollars(cost)));
    }
    let steps = if usage.steps == 1 { "step" } else { "steps" };
    line.push_str(&format!(", {} {steps}", usage.steps));
    line
}

/// A miss of the cache, if there was one.
pub(super) fn miss_line(usage: &TurnUsage) -> Option<String> {
    let missed = usage.missed_tokens;
    (missed > 0).then(|| {
        format!(
            "the provider's cache missed: {} tokens were read, and are paid, again; a long pause or another model does that",
            tokens(missed)
        )
    })
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or_default().min(100)
}

/// A count with three digits: `230`, `1.2k`, `34k`, `1.3M`.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{}.{}k", (count + 50) / 1000, (count + 50) % 1000 / 100),
        9_950..999_500 => format!("{}k", (count + 500) / 1000),
        _ => format!("{}.{}M", (count + 50_000) / 1_000_000, (count + 50_000) % 1_000_000 / 100_000),
    }
}

/// An amount, small ones with two digits that count.
pub(super) fn dollars(amount: f64) -> String {
    match amount {
        amount if amount >= 0.1 || amount <= 0.0 => format!("${amount:.2}"),
        amount if amount >= 0.001 => format!("${amount:.4}"),
        amount => format!("${amount:.6}"),
    }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
