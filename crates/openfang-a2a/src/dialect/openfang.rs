//! OpenFang's own REST dialect: a task without an envelope, a flat status, `messages`, and flat parts.
//!
//! The dialect has no streams and no push. A message can come with or without the envelope of `tasks/send`.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::read::{self, Object, OpenFangPart, ReadResult};
use super::v01::{SendIn, TaskIn};
use super::write::{PageOut, VisibleTask};
use crate::answer::{Answer, StreamEvent};
use crate::error::A2aError;
use crate::operation::{Method, Operation, Request};
use openfang_types::event::StreamItem;

pub(super) use request::http_call;
pub use task::{A2aArtifact, A2aMessage, A2aPart, A2aTask, A2aTaskStatus};

mod request;
mod task;

pub(super) fn decode(method: Method, params: Option<&RawValue>) -> ReadResult<Request> {
    let operation = match method {
        Method::Send => opened(params)?.read(method)?,
        Method::Get => {
            let (task, history) = read::params::<TaskIn>(params)?.read()?;
            Operation::Get { task, history }
        }
        Method::Cancel => Operation::Cancel { task: read::params::<TaskIn>(params)?.read()?.0 },
        Method::Stream
        | Method::List
        | Method::Subscribe
        | Method::SetPush
        | Method::GetPush
        | Method::ListPush
        | Method::DeletePush
        | Method::ExtendedCard => return Err(A2aError::MethodNotFound(method.to_string())),
    };
    Ok(Request { tenant: None, operation })
}

#[derive(Deserialize)]
struct Envelope {
    method: Option<String>,
    params: Option<Object<SendIn<OpenFangPart>>>,
}

/// The message parameters, without the optional envelope.
fn opened(body: Option<&RawValue>) -> ReadResult<SendIn<OpenFangPart>> {
    let envelope: Envelope = read::params(body)?;
    if envelope.method.is_some_and(|method| method != "tasks/send") {
        return Err(A2aError::invalid("method", "this endpoint accepts only `tasks/send`"));
    }
    match envelope.params {
        Some(Object(params)) => Ok(params),
        None => read::params(body),
    }
}

/// The dialect has no streams and can express tasks only.
pub(super) fn can_write(shown: StreamEvent<'_>) -> bool {
    match shown {
        StreamEvent::Reply(_) | StreamEvent::Item(_, StreamItem::Snapshot(..)) => true,
        StreamEvent::Item(_, StreamItem::Event(_) | StreamItem::Shutdown) => false,
    }
}

pub(super) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) | Answer::Task(held, history) => {
            A2aTask::of(VisibleTask::of(held, *history)).serialize(to)
        }
        Answer::Replied(message) => A2aTask::of_reply(message).serialize(to),
        Answer::Tasks(page) => {
            PageOut::new(page, |held, page| A2aTask::of(VisibleTask::listed(held, page))).serialize(to)
        }
        Answer::Card(card) => card.serialize(to),
        // No operation of this dialect leads here.
        Answer::Push(_) | Answer::Pushes(_) | Answer::Gone => to.serialize_unit(),
    }
}

pub(super) fn shown<S: Serializer>(shown: StreamEvent<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        StreamEvent::Reply(message) => A2aTask::of_reply(message).serialize(to),
        StreamEvent::Item(head, StreamItem::Snapshot(task, _)) => {
            A2aTask::of(VisibleTask::streamed(head, task)).serialize(to)
        }
        StreamEvent::Item(_, StreamItem::Event(_) | StreamItem::Shutdown) => to.serialize_unit(),
    }
}

#[cfg(test)]
#[path = "openfang_tests.rs"]
mod tests;
