//! Determines the type of a document: by its wrapper, by its `kind`, otherwise by its members.

use serde_json::{Map, Value};

use super::members::MemberReader;
use crate::dialect::read::ReadResult;
use crate::error::A2aError;

/// The types of documents a peer can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Task,
    Message,
    Status,
    Artifact,
}

const WRAPPERS: [(&str, Shape); 7] = [
    ("task", Shape::Task),
    ("message", Shape::Message),
    ("msg", Shape::Message),
    ("statusUpdate", Shape::Status),
    ("status_update", Shape::Status),
    ("artifactUpdate", Shape::Artifact),
    ("artifact_update", Shape::Artifact),
];

/// The answer to a message. A document without other evidence is a task.
pub(super) fn reply(value: Value) -> ReadResult<(Shape, MemberReader)> {
    let (shape, members) = opened(MemberReader::of(value)?);
    let shape = shape.or_else(|| stated(&members)).unwrap_or_else(|| {
        let is_message = members.has(&["parts", "content", "role"]) && !members.has(&["status"]);
        if is_message { Shape::Message } else { Shape::Task }
    });
    Ok((shape, members))
}

/// An event of a stream.
pub(super) fn streamed(value: Value) -> ReadResult<(Shape, MemberReader)> {
    let (shape, members) = opened(MemberReader::of(value)?);
    let shape = shape.or_else(|| stated(&members)).or_else(|| guessed(&members));
    let nothing = "it is not a task, message, status update or artifact update";
    shape.map(|shape| (shape, members)).ok_or_else(|| A2aError::invalid("", nothing))
}

/// The content of a wrapper, and the type the wrapper states.
fn opened(mut members: MemberReader) -> (Option<Shape>, MemberReader) {
    let found = WRAPPERS.iter().find(|(name, _)| members.get(&[*name]).is_some_and(Value::is_object));
    match found.and_then(|(name, shape)| Some((*shape, members.object(&[*name])?))) {
        Some((shape, inner)) => (Some(shape), inner),
        None => (None, members),
    }
}

/// The type a document states.
fn stated(members: &MemberReader) -> Option<Shape> {
    let word = members.get(&["kind", "type"])?.as_str()?;
    let letters: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.to_ascii_lowercase().as_str() {
        "task" => Some(Shape::Task),
        "message" => Some(Shape::Message),
        "statusupdate" | "taskstatusupdate" | "taskstatusupdateevent" => Some(Shape::Status),
        "artifactupdate" | "taskartifactupdate" | "taskartifactupdateevent" => Some(Shape::Artifact),
        _ => None,
    }
}

fn guessed(members: &MemberReader) -> Option<Shape> {
    if members.has(&["artifact"]) {
        return Some(Shape::Artifact);
    }
    if members.has(&["status"]) {
        // An update names its task as `taskId`. In 0.1 it uses `id`, like a task, but has no other member of a task.
        let says_more = ["artifacts", "history", "messages", "sessionId", "session_id", "contextId", "context_id"];
        let is_task = members.has(&["id"]) && members.has(&says_more) && !members.has(&["taskId", "task_id"]);
        return Some(if is_task { Shape::Task } else { Shape::Status });
    }
    if members.has(&["parts", "content", "role"]) {
        return Some(Shape::Message);
    }
    members.has(&["id"]).then_some(Shape::Task)
}

/// The members of a task, with or without a wrapper.
pub(super) fn unwrapped_task(members: Map<String, Value>) -> MemberReader {
    let mut members = MemberReader::from(members);
    match members.object(&["task"]) {
        Some(inner) => inner,
        None => members,
    }
}
