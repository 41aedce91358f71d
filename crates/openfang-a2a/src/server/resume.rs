//! `Last-Event-ID: task:seq`, as our events carry it.

use openfang_types::event::Seq;
use openfang_types::ids::TaskId;

use crate::error::A2aError;

/// The last event that a caller has seen of this task.
pub(super) fn last_event(stated: Option<&str>, id: TaskId) -> Result<Option<Seq>, A2aError> {
    let Some(stated) = stated else { return Ok(None) };
    let seq = stated
        .trim()
        .rsplit_once(':')
        .filter(|(task, _)| task.parse() == Ok(id))
        .and_then(|(_, seq)| seq.parse().ok());
    let wrong = || A2aError::invalid("Last-Event-ID", "this is not the id of an event of this task");
    seq.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
