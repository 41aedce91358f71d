//! What a document is: by what it is wrapped in, by its `kind`, and where neither says so by its members.

use serde_json::{Map, Value};

use super::members::Members;
use crate::dialect::read::Read;
use crate::error::A2aError;

/// What can come back.
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

/// The answer to a message. Without a sign of the contrary it is a task.
pub(super) fn reply(value: Value) -> Read<(Shape, Members)> {
    let (shape, members) = opened(Members::of(value)?);
    let shape = shape.or_else(|| stated(&members)).unwrap_or_else(|| {
        let is_message = members.has(&["parts", "content", "role"]) && !members.has(&["status"]);
        if is_message { Shape::Message } else { Shape::Task }
    });
    Ok((shape, members))
}

/// An event of a stream.
pub(super) fn streamed(value: Value) -> Read<(Shape, Members)> {
    let (shape, members) = opened(Members::of(value)?);
    let shape = shape.or_else(|| stated(&members)).or_else(|| guessed(&members));
    let nothing = "it is no task, message, status update or artifact update";
    shape.map(|shape| (shape, members)).ok_or_else(|| A2aError::invalid("", nothing))
}

/// What is in a wrapper, and what the wrapper says it is.
fn opened(mut members: Members) -> (Option<Shape>, Members) {
    let found = WRAPPERS.iter().find(|(name, _)| members.get(&[*name]).is_some_and(Value::is_object));
    match found.and_then(|(name, shape)| Some((*shape, members.object(&[*name])?))) {
        Some((shape, inner)) => (Some(shape), inner),
        None => (None, members),
    }
}

/// What a document says that it is.
fn stated(members: &Members) -> Option<Shape> {
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

fn guessed(members: &Members) -> Option<Shape> {
    if members.has(&["artifact"]) {
        return Some(Shape::Artifact);
    }
    if members.has(&["status"]) {
        // An update names the task it is about; 0.1 names it as a task does, and then says nothing else about it.
        let says_more = ["artifacts", "history", "messages", "sessionId", "session_id", "contextId", "context_id"];
        let is_task = members.has(&["id"]) && members.has(&says_more) && !members.has(&["taskId", "task_id"]);
        return Some(if is_task { Shape::Task } else { Shape::Status });
    }
    if members.has(&["parts", "content", "role"]) {
        return Some(Shape::Message);
    }
    members.has(&["id"]).then_some(Shape::Task)
}

/// A task that may be wrapped.
pub(super) fn unwrapped_task(members: Map<String, Value>) -> Members {
    let mut members = Members::from(members);
    match members.object(&["task"]) {
        Some(inner) => inner,
        None => members,
    }
}
