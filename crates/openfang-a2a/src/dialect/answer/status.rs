//! Reads the status of a peer's task: a word, a number, or an object.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use openfang_types::task::{TaskState, TaskStatus};
use serde_json::Value;

use super::members::{MemberReader, whole};
use super::{Context, message};
use crate::dialect::read::{ReadResult, Word, under};
use crate::error::A2aError;
use crate::peer::PeerStatus;

/// The names of the task id in an event.
pub(super) const TASK: &[&str] = &["taskId", "task_id", "id"];
/// The names of the conversation id.
pub(super) const CONTEXT: &[&str] = &["contextId", "context_id", "sessionId", "session_id"];

/// Reads a status. A task without a state counts as working.
pub(super) fn read(context: Context<'_>, value: Option<Value>) -> ReadResult<TaskStatus> {
    let alone = |state| TaskStatus { state, message: None, timestamp: context.reading.now };
    match value {
        None => Ok(alone(TaskState::Working)),
        Some(word @ (Value::String(_) | Value::Number(_))) => Ok(alone(state(&word))),
        Some(Value::Object(members)) => {
            let mut members = MemberReader::from(members);
            let state = members.take(&["state", "status"]).as_ref().map_or(TaskState::Working, state);
            let message = members.take(&["message"]).map(|said| message::said(context, said));
            let message = message.transpose().map_err(under("message"))?.filter(|message| !message.parts.is_empty());
            let timestamp = members.take(&["timestamp"]).as_ref().and_then(moment).unwrap_or(context.reading.now);
            Ok(TaskStatus { state, message, timestamp })
        }
        Some(_) => Err(A2aError::invalid("", "it must be a state, or an object with one")),
    }
}

/// Reads a state in any spelling. An unknown state is not terminal: the task continues.
fn state(word: &Value) -> TaskState {
    let word = match word {
        Value::String(text) => Some(Word::Text(text.clone())),
        other => whole(other).and_then(|number| u64::try_from(number).ok()).map(Word::Number),
    };
    word.and_then(|word| word.state().flatten()).unwrap_or(TaskState::Working)
}

/// A time with an offset, or in UTC without one.
fn moment(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    let naive = || {
        let civil: DateTime = text.parse().ok()?;
        civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    text.parse().ok().or_else(naive)
}

/// A change of a status.
pub(super) fn update(context: Context<'_>, mut members: MemberReader) -> ReadResult<PeerStatus> {
    Ok(PeerStatus {
        task: members.name(TASK)?.or_else(|| context.reading.task.cloned()),
        context_id: members.name(CONTEXT)?,
        status: read(context, members.take(&["status"])).map_err(under("status"))?,
        is_final: members.flag(&["final"]),
        metadata: members.metadata(),
    })
}
