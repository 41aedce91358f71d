//! Reads messages. The dialects differ only in their parts.

use openfang_types::ids::TaskName;
use openfang_types::task::{Message, Part};
use serde::Deserialize;

use super::{Metadata, Object, ReadResult, Word, filled, fresh_message_id, named, required, under};
use crate::error::A2aError;

/// A part in the form of a dialect.
pub(in crate::dialect) trait PartIn {
    fn read(self) -> ReadResult<Part>;
}

/// Whether messages of a dialect carry an id and a role.
#[derive(Clone, Copy)]
pub(in crate::dialect) enum Naming {
    /// Messages carry an id and a role.
    BySender,
    /// Messages have no id yet: one is generated unless the sender provides it. A missing role means the user.
    ByUs,
}

/// A message as received.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct MessageIn<P> {
    #[serde(alias = "message_id")]
    message_id: Option<String>,
    #[serde(alias = "context_id")]
    context_id: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    role: Option<Word>,
    #[serde(alias = "content")]
    parts: Option<Vec<Object<P>>>,
    metadata: Option<Metadata>,
    extensions: Option<Vec<String>>,
    #[serde(alias = "reference_task_ids")]
    reference_task_ids: Option<Vec<String>>,
}

impl<P: PartIn> MessageIn<P> {
    /// The message and the task it names.
    pub(in crate::dialect) fn read(self, naming: Naming) -> ReadResult<(Message, Option<TaskName>)> {
        let message_id = match naming {
            Naming::BySender => required("messageId", self.message_id)?,
            Naming::ByUs => named("messageId", self.message_id)?.map_or_else(fresh_message_id, Ok)?,
        };
        let role = Word::incoming_role(self.role.as_ref(), naming)?;
        let parts = parts(self.parts.unwrap_or_default())?;
        let task = named("taskId", self.task_id)?;
        let reference_task_ids = references(self.reference_task_ids.unwrap_or_default())?;
        let message = Message {
            context_id: named("contextId", self.context_id)?,
            metadata: self.metadata.unwrap_or_default().0,
            extensions: self.extensions.unwrap_or_default(),
            reference_task_ids,
            ..Message::of_parts(message_id, role, parts)
        };
        Ok((message, task))
    }
}

/// The required message of a request.
pub(in crate::dialect) fn present<P>(message: Option<Object<P>>) -> ReadResult<P> {
    let missing = || A2aError::invalid("message", "`message` is missing; it must be an object with parts");
    Ok(message.ok_or_else(missing)?.0)
}

fn parts<P: PartIn>(parts: Vec<Object<P>>) -> ReadResult<Vec<Part>> {
    if parts.is_empty() {
        return Err(A2aError::invalid("parts", "a message needs at least one part"));
    }
    let read =
        |(at, Object(part)): (usize, Object<P>)| part.read().map_err(|error| under(&format!("parts[{at}]"))(error));
    parts.into_iter().enumerate().map(read).collect()
}

fn references(names: Vec<String>) -> ReadResult<Vec<String>> {
    for (at, name) in names.iter().enumerate() {
        let field = format!("referenceTaskIds[{at}]");
        required::<TaskName>(&field, filled(Some(name.clone())))?;
    }
    Ok(names)
}
