//! `Last-Event-ID: task:seq`, as our events carry it.

use http::HeaderMap;
use openfang_types::event::Seq;
use openfang_types::ids::TaskId;

use crate::error::A2aError;

/// The last event that a client has seen of this task.
pub(super) fn last_event(headers: &HeaderMap, id: TaskId) -> Result<Option<Seq>, A2aError> {
    let Some(header) = headers.get("last-event-id") else { return Ok(None) };
    let seq = header.to_str().ok().and_then(|text| {
        let (task, seq) = text.trim().rsplit_once(':')?;
        (task.parse() == Ok(id)).then(|| seq.parse().ok())?
    });
    let wrong = || A2aError::invalid("Last-Event-ID", "this is not the id of an event of this task");
    seq.map(Some).ok_or_else(wrong)
}
