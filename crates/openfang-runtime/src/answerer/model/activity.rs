//! What is told of a turn to whoever watches it: each call with its arguments and its time, and what the turn took. Only a
//! person is told; for programs the answer and the task say what matters.

use openfang_model::Usage;
use openfang_types::ids::ToolName;
use openfang_types::limits::CACHE_MISS_TOKENS;
use openfang_types::task::{CallNote, CallNoteOutcome, Part, TurnUsage, shortened_arguments};
use serde_json::Value;

use super::work::Work;
use crate::answerer::RunEvent;
use crate::transcript::{CallOutcome, TranscriptBody};

impl Work<'_> {
    /// Says that a call has ended. It is stored with what follows.
    pub(super) async fn tell_call(&self, (tool, arguments): (&ToolName, &Value), outcome: &CallOutcome, millis: u64) {
        if self.run.cx.waiting_task.is_none() {
            return;
        }
        let outcome = match outcome {
            CallOutcome::Returned { is_error: false, .. } => CallNoteOutcome::Done,
            CallOutcome::Returned { is_error: true, .. } | CallOutcome::Unknown | CallOutcome::Canceled => {
                CallNoteOutcome::Failed
            }
            CallOutcome::Denied { .. } => CallNoteOutcome::Denied,
        };
        let arguments = shortened_arguments(&self.redacted(arguments));
        let note = CallNote { tool: tool.to_string(), arguments, millis, outcome };
        self.run.events.emit_with_next(RunEvent::Working(vec![Part::ended_call(&note)])).await;
    }

    /// Arguments without secrets. What looks like one is refused by the pipeline, and is not shown either.
    fn redacted(&self, arguments: &Value) -> Value {
        let sensitive = self.run.pipeline.sensitive();
        let text = arguments.to_string();
        let redacted = sensitive.redactor().json(text.as_bytes());
        serde_json::from_slice(&redacted).unwrap_or_default()
    }

    /// Says what the turn took, together with how it ends.
    pub(super) async fn tell_usage(&self) {
        if self.run.cx.waiting_task.is_none() {
            return;
        }
        let answers = self.conversation.entries().iter().filter_map(|entry| match &entry.body {
            TranscriptBody::Answer { usage, cost, .. } => {
                let is_ours = entry.task == self.conversation.task() && entry.turn == self.conversation.turn;
                Some((is_ours, *usage, cost.map(|cost| cost.dollars())))
            }
            _ => None,
        });
        let model = self.chain.target().reference.clone();
        if let Some(usage) = turn_usage(model, answers) {
            self.run.events.emit_with_next(RunEvent::Working(vec![Part::turn_usage(&usage)])).await;
        }
    }
}

/// The sum of the answers of a turn, among all answers of the conversation. None if the turn has none.
fn turn_usage(model: String, answers: impl Iterator<Item = (bool, Usage, Option<f64>)>) -> Option<TurnUsage> {
    let mut sum = TurnUsage {
        model,
        steps: 0,
        input_tokens: 0,
        cached_tokens: None,
        output_tokens: 0,
        cost_usd: None,
        missed_tokens: 0,
    };
    let mut before = 0;
    for (is_ours, usage, cost) in answers {
        let input = usage.input.unwrap_or_default();
        if is_ours {
            sum.steps += 1;
            sum.input_tokens = sum.input_tokens.saturating_add(input);
            sum.output_tokens = sum.output_tokens.saturating_add(usage.output.unwrap_or_default());
            sum.missed_tokens = sum.missed_tokens.saturating_add(missed(before, &usage));
            if let Some(cached) = usage.cached {
                sum.cached_tokens = Some(sum.cached_tokens.unwrap_or_default().saturating_add(cached));
            }
            if let Some(cost) = cost {
                sum.cost_usd = Some(sum.cost_usd.unwrap_or_default() + cost);
            }
        }
        before = input;
    }
    (sum.steps > 0).then_some(sum)
}

/// How much of the request before was read again. A request begins with the one before it, unless that was compacted.
fn missed(before: u64, usage: &Usage) -> u64 {
    let Some(cached) = usage.cached else { return 0 };
    let known = before.min(usage.input.unwrap_or_default());
    let missed = known.saturating_sub(cached);
    if missed >= CACHE_MISS_TOKENS && cached < known / 2 { missed } else { 0 }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
