//! Questions of tools: a form in the status of a task, and the answer as a part of the next message.

use openfang_kernel::questions::MEDIA_TYPE;
use openfang_types::task::{Part, Task};
use serde_json::Value;

use super::choices;

/// A question of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormQuestion {
    part: Part,
    /// The parameters of MCP's elicitation.
    pub(super) params: Value,
}

impl FormQuestion {
    /// The answer, as a part of the next message.
    pub(super) fn answer(&self, answer: Value) -> Part {
        Part { metadata: self.part.metadata.clone(), ..Part::data(answer) }
    }
}

/// The questions that a task waits for.
pub(super) fn in_task(task: &Task) -> Vec<FormQuestion> {
    if !task.status.state.is_interrupted() {
        return Vec::new();
    }
    let parts = task.status.message.iter().flat_map(|message| &message.parts);
    parts
        .filter(|part| part.media_type.as_deref() == Some(MEDIA_TYPE))
        .filter_map(|part| Some(FormQuestion { part: part.clone(), params: part.as_data()?.clone() }))
        .collect()
}

/// Whether a task asks in parts that are shown as a form or as an approval, not as its text.
pub(super) fn asks_in_parts(task: &Task) -> bool {
    !in_task(task).is_empty() || !choices::asked_in(task).is_empty()
}
