//! Reads the answers and events of peers.
//!
//! One lenient reader serves all dialects, because peers mix them: a peer may answer in the shape of 1.0 with the words
//! of 0.3. Members we depend on (names, states, parts) are checked, and an error says exactly what is wrong.
//! Descriptive members (times, counts, metadata) are dropped if they cannot be read. Every document passes the strict
//! scan first, which bounds its depth and its size in memory.

use jiff::Timestamp;
use openfang_types::ids::TaskName;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Dialect;
use super::read::ReadResult;
use crate::error::A2aError;
use crate::operation::Method;
use crate::peer::{AnswerError, PeerAnswer, PeerEvent};

use shape::Shape;

mod failure;
mod frame;
mod members;
mod message;
mod part;
mod push;
mod shape;
mod status;
mod task;

#[derive(Debug, Clone, Copy)]
pub struct PeerResponse<'a> {
    /// The body of a response, or the data of one event.
    pub body: &'a [u8],
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    /// Whether the transport already marks it as an error, such as `event: error`.
    pub is_error: bool,
}

impl<'a> PeerResponse<'a> {
    /// The body of a response.
    pub const fn response(status: u16, body: &'a [u8]) -> Self {
        Self { body, status: Some(status), is_error: false }
    }

    /// One server-sent event with its name.
    pub fn event(name: &str, data: &'a str) -> Self {
        Self { body: data.as_bytes(), status: None, is_error: name.eq_ignore_ascii_case("error") }
    }

    const fn is_failure(&self) -> bool {
        self.is_error || matches!(self.status, Some(400..))
    }
}

/// What the reader knows apart from the document.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// Used for a time that is missing or unreadable.
    pub now: Timestamp,
    /// The task we follow, if any. Used where the peer does not name the task.
    pub task: Option<&'a TaskName>,
}

/// The dialect and the reader's context.
#[derive(Clone, Copy)]
struct Context<'a> {
    dialect: Dialect,
    reading: ReadContext<'a>,
}

impl Dialect {
    /// Reads a peer's answer to a method. A single answer to a streaming method is read by [`Dialect::read_event`].
    pub fn read_answer(
        self,
        method: Method,
        received: &PeerResponse<'_>,
        reading: &ReadContext<'_>,
    ) -> Result<PeerAnswer, AnswerError> {
        let document = frame::open(received)?;
        let context = Context { dialect: self, reading: *reading };
        answer(context, method, document).map_err(unreadable)
    }

    /// Reads one event of a stream, or the single answer a peer sent instead of a stream.
    pub fn read_event(self, received: &PeerResponse<'_>, reading: &ReadContext<'_>) -> Result<PeerEvent, AnswerError> {
        let document = frame::open(received)?;
        let context = Context { dialect: self, reading: *reading };
        parsed(document).and_then(|value| event(context, value)).map_err(unreadable)
    }
}

fn answer(context: Context<'_>, method: Method, document: &RawValue) -> ReadResult<PeerAnswer> {
    match method {
        Method::Send | Method::Stream | Method::Subscribe => {
            let (shape, members) = shape::reply(parsed(document)?)?;
            match shape {
                Shape::Message => Ok(PeerAnswer::Message(Box::new(message::alone(context, members)?))),
                Shape::Task | Shape::Status | Shape::Artifact => {
                    Ok(PeerAnswer::Task(Box::new(task::read(context, members)?)))
                }
            }
        }
        Method::Get | Method::Cancel => Ok(PeerAnswer::Task(Box::new(task::of(context, parsed(document)?)?))),
        Method::List => Ok(PeerAnswer::Tasks(task::page(context, parsed(document)?)?)),
        Method::SetPush | Method::GetPush => Ok(PeerAnswer::Push(Box::new(push::one(parsed(document)?)?))),
        Method::ListPush => Ok(PeerAnswer::Pushes(push::list(parsed(document)?)?)),
        Method::DeletePush => Ok(PeerAnswer::Deleted),
        Method::ExtendedCard => match document.get().starts_with('{') {
            true => Ok(PeerAnswer::Card(document.to_owned())),
            false => Err(A2aError::invalid("", "it must be a card, an object")),
        },
    }
}

fn event(context: Context<'_>, value: Value) -> ReadResult<PeerEvent> {
    let (shape, members) = shape::streamed(value)?;
    Ok(match shape {
        Shape::Task => PeerEvent::Task(Box::new(task::read(context, members)?)),
        Shape::Message => PeerEvent::Message(Box::new(message::alone(context, members)?)),
        Shape::Status => PeerEvent::Status(Box::new(status::update(context, members)?)),
        Shape::Artifact => PeerEvent::Artifact(Box::new(task::artifact_update(context, members)?)),
    })
}

fn parsed(document: &RawValue) -> ReadResult<Value> {
    serde_json::from_str(document.get()).map_err(|error| A2aError::invalid("", error.to_string()))
}

/// Turns an error of the shared readers into an error about the peer's answer.
fn unreadable(error: A2aError) -> AnswerError {
    match error {
        A2aError::InvalidParams { field, why } => AnswerError::Unreadable { at: field, why },
        other => AnswerError::Unreadable { at: String::new(), why: other.to_string() },
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
