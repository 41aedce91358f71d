//! Reads messages from peers.

use openfang_types::task::{Message, Role};
use serde_json::Value;

use super::members::{MemberReader, whole};
use super::status::CONTEXT;
use super::{Context, part};
use crate::dialect::read::{ReadResult, fresh_message_id};
use crate::peer::PeerMessage;

/// A message of a task: an object or a plain text.
pub(super) fn said(context: Context<'_>, value: Value) -> ReadResult<Message> {
    if let Value::String(text) = value {
        return Ok(Message::text(fresh_message_id()?, Role::Agent, text));
    }
    Ok(alone(context, MemberReader::of(value)?)?.message)
}

/// A message with the task it names.
pub(super) fn alone(context: Context<'_>, mut members: MemberReader) -> ReadResult<PeerMessage> {
    // Messages are never fetched by id, so an invalid id is replaced.
    let id = members.name(&["messageId", "message_id", "id"]).ok().flatten();
    let parts = part::list(context.dialect, &mut members)?;
    let message = Message {
        context_id: members.name(CONTEXT)?,
        metadata: members.metadata(),
        extensions: members.texts(&["extensions"]),
        reference_task_ids: members.texts(&["referenceTaskIds", "reference_task_ids"]),
        ..Message::of_parts(id.map_or_else(fresh_message_id, Ok)?, role(members.take(&["role"])), parts)
    };
    Ok(PeerMessage { task: members.name(&["taskId", "task_id"])?, message })
}

/// Every sender other than the caller counts as the peer.
fn role(word: Option<Value>) -> Role {
    let is_user = match word {
        Some(Value::String(text)) => text.to_ascii_lowercase().trim_start_matches("role_") == "user",
        Some(number) => whole(&number) == Some(1),
        None => false,
    };
    if is_user { Role::User } else { Role::Agent }
}
