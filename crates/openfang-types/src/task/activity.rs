//! What an agent with a model did on the way to its answer, for whoever watches the task: the calls that it made, and what a
//! turn took. Both travel as metadata of a progress part, so clients that know nothing of them see a sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Part;
use crate::limits::{CALL_NOTE_CHARS, CALL_NOTE_MEMBERS};

/// The member of a part's metadata that names calls which begin.
const BEGINNING: &str = "openfang/calls";
/// The member that describes a call which has ended.
const CALL: &str = "openfang/call";
/// The member that says what a turn took.
const USAGE: &str = "openfang/usage";

/// A call that an agent made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallNote {
    pub tool: String,
    /// The arguments, shortened: long texts and deep values are cut.
    pub arguments: Value,
    pub millis: u64,
    pub outcome: CallNoteOutcome,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallNoteOutcome {
    Done,
    /// The tool failed, or the call was refused.
    Failed,
    /// A person did not allow it.
    Denied,
}

/// What a turn took of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// The model that answered last, as `provider/model`.
    pub model: String,
    /// The number of answers.
    pub steps: u32,
    /// Tokens of requests, cached ones included.
    pub input_tokens: u64,
    /// Tokens that the provider had cached; absent if it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    pub output_tokens: u64,
    /// What it cost, if the price of the model is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens that the provider had read before and read again, because its cache did not have them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Part {
    /// Says that calls begin.
    pub fn beginning_calls(names: &[&str]) -> Self {
        let text = format!("calls {}", names.join(", "));
        Self::progress(text, None, None).with_member(BEGINNING, Value::from(names.to_vec()))
    }

    /// Says that a call has ended.
    pub fn ended_call(note: &CallNote) -> Self {
        let text = match note.outcome {
            CallNoteOutcome::Done => format!("{} took {} ms", note.tool, note.millis),
            CallNoteOutcome::Failed => format!("{} failed after {} ms", note.tool, note.millis),
            CallNoteOutcome::Denied => format!("{} was denied", note.tool),
        };
        Self::progress(text, None, None).with_member(CALL, serde_json::to_value(note).unwrap_or_default())
    }

    /// Says what a turn took.
    pub fn turn_usage(usage: &TurnUsage) -> Self {
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        let text = format!("{input} tokens in, {output} out, {} steps", usage.steps);
        Self::progress(text, None, None).with_member(USAGE, serde_json::to_value(usage).unwrap_or_default())
    }

    /// The tools whose calls begin.
    pub fn as_beginning_calls(&self) -> Option<Vec<String>> {
        self.member(BEGINNING)
    }

    /// The call that has ended.
    pub fn as_ended_call(&self) -> Option<CallNote> {
        self.member(CALL)
    }

    /// What the turn took.
    pub fn as_turn_usage(&self) -> Option<TurnUsage> {
        self.member(USAGE)
    }

    fn with_member(mut self, name: &str, value: Value) -> Self {
        self.metadata.insert(name.to_owned(), value);
        self
    }

    fn member<T: serde::de::DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.metadata.get(name)?.clone()).ok()
    }
}

/// Arguments as a line has room for them: few members, short texts, nothing deep.
pub fn shortened_arguments(arguments: &Value) -> Value {
    let Value::Object(members) = arguments else { return shortened(arguments) };
    let mut short: Map<String, Value> = members
        .iter()
        .take(CALL_NOTE_MEMBERS)
        .map(|(name, value)| (cut(name), shortened(value)))
        .collect();
    if let Some(more) = members.len().checked_sub(CALL_NOTE_MEMBERS).filter(|more| *more > 0) {
        short.insert("…".to_owned(), Value::from(format!("{more} more")));
    }
    Value::Object(short)
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(cut(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::Array(items) if items.is_empty() => value.clone(),
        Value::Object(members) if members.is_empty() => value.clone(),
        Value::Array(items) => Value::from(format!("[{} items]", items.len())),
        Value::Object(members) => Value::from(format!("{{{} members}}", members.len())),
    }
}

fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let short: String = chars.by_ref().take(CALL_NOTE_CHARS).collect();
    if chars.next().is_some() { format!("{short}…") } else { short }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
