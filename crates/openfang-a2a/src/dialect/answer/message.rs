//! Messages of peers.

use openfang_types::task::{Message, Role};
use serde_json::Value;

use super::members::{Members, whole};
use super::status::CONTEXT;
use super::{Context, part};
use crate::dialect::read::{Read, fresh_message_id};
use crate::peer::PeerMessage;

/// A message of a task: an object, or a text alone.
pub(super) fn said(context: Context<'_>, value: Value) -> Read<Message> {
    if let Value::String(text) = value {
        return Ok(Message::text(fresh_message_id()?, Role::Agent, text));
    }
    Ok(alone(context, Members::of(value)?)?.message)
}

/// A message, with the task that it names.
pub(super) fn alone(context: Context<'_>, mut members: Members) -> Read<PeerMessage> {
    // Nobody asks for a message by its id, so one that cannot be kept is replaced.
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

/// Whatever does not come from the caller's side comes from the peer's.
fn role(word: Option<Value>) -> Role {
    let is_user = match word {
        Some(Value::String(text)) => text.to_ascii_lowercase().trim_start_matches("role_") == "user",
        Some(number) => whole(&number) == Some(1),
        None => false,
    };
    if is_user { Role::User } else { Role::Agent }
}
