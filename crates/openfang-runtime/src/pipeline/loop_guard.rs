//! Whether a run goes in circles: the same call again and again, a cycle of calls, or simply too many of them.
//!
//! It belongs to a run; a direct call has none. The warning comes before the block, as a block of the result.

use std::collections::HashMap;

use openfang_types::call::Arguments;
use openfang_types::config::LoopGuardConfig;
use openfang_types::ids::ToolName;
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::ToolError;
use super::digest::hex;
use crate::context::CallContext;

/// What a run has called so far.
pub(crate) struct LoopGuard {
    rules: LoopGuardConfig,
    history: Vec<CallHash>,
    counts: HashMap<CallHash, u32>,
    refused_in_a_row: u32,
}

type CallHash = [u8; 16];

/// What the guard says about a call.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    Warn(String),
    Block(String),
}

impl LoopGuard {
    pub(crate) fn new(rules: LoopGuardConfig) -> Self {
        Self { rules, history: Vec::new(), counts: HashMap::new(), refused_in_a_row: 0 }
    }

    fn judge(&mut self, hash: CallHash) -> Verdict {
        let calls = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        if calls >= self.rules.calls_per_run {
            return Verdict::Block(format!("this run has made its {} tool calls", self.rules.calls_per_run));
        }
        self.history.push(hash);
        let same = self.counts.entry(hash).and_modify(|count| *count += 1).or_insert(1);
        if *same >= self.rules.block_identical {
            return Verdict::Block(format!("it would be identical call number {same} of this run"));
        }
        let same = *same;
        let rounds = self.rounds_of_a_cycle();
        if rounds >= self.rules.cycle_repeats {
            return Verdict::Block(format!("the last calls of this run repeat in a cycle, {rounds} times now"));
        }
        if same >= self.rules.warn_identical {
            let block = self.rules.block_identical;
            return Verdict::Warn(format!(
                "this was identical call number {same} of this run; number {block} is refused"
            ));
        }
        if rounds > 0 && rounds + 1 >= self.rules.cycle_repeats {
            return Verdict::Warn(format!(
                "the calls of this run repeat in a cycle, {rounds} times now; the next round is refused"
            ));
        }
        Verdict::Fine
    }

    /// How often a cycle of two or more calls has just come round completely; 0 when nothing repeats.
    fn rounds_of_a_cycle(&self) -> u32 {
        let longest = self.rules.cycle_length.min(self.history.len() / 2);
        let rounds = |length: usize| {
            let mut backwards = self.history.rchunks_exact(length);
            let last = backwards.next();
            let differs = last.is_some_and(|calls| calls.iter().any(|call| *call != calls[0]));
            let again = backwards.take_while(|chunk| Some(*chunk) == last).count();
            if differs && again > 0 { u32::try_from(again + 1).unwrap_or(u32::MAX) } else { 0 }
        };
        (2..=longest).map(rounds).max().unwrap_or(0)
    }
}

/// Judges a call that passed the checks before. Returns the warning to show with its result.
pub(super) fn check(cx: &CallContext, tool: &ToolName, arguments: &Arguments<'_>) -> Result<Option<String>, ToolError> {
    let Some(run) = &cx.run else { return Ok(None) };
    match run.guard(|guard| guard.judge(hash_of(tool, arguments))) {
        Verdict::Fine => Ok(None),
        Verdict::Warn(warning) => Ok(Some(warning)),
        Verdict::Block(why) => Err(ToolError::Looping { tool: tool.clone(), why }),
    }
}

/// A run whose calls are refused again and again, for whatever reason, ends as well.
pub(super) fn note_outcome<T>(
    cx: &CallContext,
    tool: &ToolName,
    outcome: Result<T, ToolError>,
) -> Result<T, ToolError> {
    let Some(run) = &cx.run else { return outcome };
    let refused = run.guard(|guard| {
        guard.refused_in_a_row = if outcome.is_err() { guard.refused_in_a_row + 1 } else { 0 };
        (guard.refused_in_a_row >= guard.rules.block_identical).then_some(guard.refused_in_a_row)
    });
    match (outcome, refused) {
        (Err(error), Some(times)) if !error.ends_the_run() => {
            let tool = tool.clone();
            Err(ToolError::Looping {
                tool,
                why: format!("{times} calls in a row were refused, the last because {error}"),
            })
        }
        (outcome, _) => outcome,
    }
}

/// A digest of a call, as text: the same for equal calls.
pub(crate) fn digest_of(tool: &ToolName, arguments: &Arguments<'_>) -> String {
    hex(&hash_of(tool, arguments))
}

/// The same for equal calls, however their members are ordered.
fn hash_of(tool: &ToolName, arguments: &Arguments<'_>) -> CallHash {
    let mut hasher = Sha256::new();
    hasher.update(tool.as_str());
    match arguments.value() {
        Ok(value) => hash_value(&mut hasher, value),
        Err(_) => hash_text(&mut hasher, b"j", arguments.json().get()),
    }
    let mut short = CallHash::default();
    short.copy_from_slice(&hasher.finalize()[..16]);
    short
}

/// Arguments passed the strict scan or were built by us, so their depth is bounded.
fn hash_value(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(flag) => hasher.update(if *flag { b"t" } else { b"f" }),
        Value::Number(number) => hash_text(hasher, b"#", &written(number)),
        Value::String(text) => hash_text(hasher, b"s", text),
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| hash_value(hasher, item));
            hasher.update(b"]");
        }
        Value::Object(members) => {
            hasher.update(b"{");
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, member) in sorted {
                hash_text(hasher, b"k", key);
                hash_value(hasher, member);
            }
            hasher.update(b"}");
        }
    }
}

/// One text for one number: `1`, `1.0` and `1e0` are the same argument.
fn written(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        // All of its digits, as a whole number of any size is written.
        Some(whole) if whole.fract() == 0.0 => format!("{:.0}", whole + 0.0),
        Some(_) | None => number.to_string(),
    }
}

/// The length goes first, so that two texts cannot pass for one.
fn hash_text(hasher: &mut Sha256, tag: &[u8], text: &str) {
    hasher.update(tag);
    hasher.update(text.len().to_le_bytes());
    hasher.update(text);
}

#[cfg(test)]
#[path = "loop_guard_tests.rs"]
mod tests;
