//! Answers that are JSON documents: checked against the schema of `[output]`, and repaired by the model a few times.

use openfang_types::event::ArtifactUpdate;
use openfang_types::limits::ANSWER_REPAIRS_MAX;
use openfang_types::scan::scan_text;
use openfang_types::task::{Artifact, Part};
use serde_json::Value;

use super::halt::Halt;
use super::work::{Work, artifact_id};
use crate::answerer::RunEvent;
use crate::schema_check::{CompiledSchema, Misfit};

/// How often the model was asked to repair its answer.
#[derive(Default)]
pub(super) struct Repairs(u32);

impl Work<'_> {
    /// Tells an answer that must follow a schema. False if the model is to repair it.
    pub(super) async fn tell_structured(&mut self, text: &str) -> Result<bool, Halt> {
        let value = match self.document(text) {
            Ok(value) => value,
            Err(why) if self.repairs.0 < ANSWER_REPAIRS_MAX => {
                self.repairs.0 += 1;
                let text =
                    format!("Your answer is not what is needed: {why}. Answer again with the JSON document only.");
                self.say_to_model(&text).await?;
                return Ok(false);
            }
            Err(why) => {
                let tries = ANSWER_REPAIRS_MAX + 1;
                return Err(Halt::failed(format!("the model gave no valid answer in {tries} tries: {why}")));
            }
        };
        let id = artifact_id(&format!("reply-{}", self.reply));
        let artifact = Artifact::of_parts(id, Some("reply".to_owned()), vec![Part::data(value)]);
        let update = ArtifactUpdate { artifact, append: false, last_chunk: true };
        self.run.events.emit_with_next(RunEvent::Artifact(update)).await;
        Ok(true)
    }

    fn document(&self, text: &str) -> Result<Value, String> {
        let json = without_fence(text);
        scan_text(json.as_bytes()).map_err(|error| format!("it is not valid JSON: {error}"))?;
        let value: Value = serde_json::from_str(json).map_err(|error| format!("it is not valid JSON: {error}"))?;
        let Some(output) = &self.answerer.agent.output else { return Ok(value) };
        let schema: Value = serde_json::from_str(output.schema.get()).map_err(|error| error.to_string())?;
        let steps = self.run.cx.config.limits.schema_check_steps;
        match CompiledSchema::of(&schema)?.check(&value, steps) {
            Ok(()) => Ok(value),
            Err(Misfit::Problems(problems)) => Err(format!("it does not fit the schema: {}", problems.join("; "))),
            Err(Misfit::TooManySteps) => Err("it is too large to be checked".to_owned()),
        }
    }
}

/// The document without the code fence that some models put around it.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}

#[cfg(test)]
#[path = "structured_tests.rs"]
mod tests;
