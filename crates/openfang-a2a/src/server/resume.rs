//! `Last-Event-ID: task:seq`, the id that our events carry.

use openfang_types::event::{EventId, Seq};
use openfang_types::ids::TaskId;

use crate::error::A2aError;

/// The last event of this task that the caller received.
pub(super) fn last_event(stated: Option<&str>, id: TaskId) -> Result<Option<Seq>, A2aError> {
    let Some(stated) = stated else { return Ok(None) };
    let seq = stated.trim().parse().ok().and_then(|event: EventId| event.of(id));
    let wrong = || A2aError::invalid("Last-Event-ID", "not an event id of this task");
    seq.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
