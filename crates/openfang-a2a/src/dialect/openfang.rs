//! OpenFang's own REST dialect: a bare task with a flat status, `messages`, and flat parts.
//!
//! It has no streams and no push. A message comes in the envelope of `tasks/send`, or without it.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::read::{self, Object, OpenFangPart, Read};
use super::v01::{SendIn, TaskIn};
use super::write::{PageOut, View};
use crate::answer::{Answer, Shown};
use crate::error::A2aError;
use crate::operation::{Method, Operation, Request};
use openfang_types::event::StreamItem;

pub(super) use request::http_call;
pub use task::{A2aArtifact, A2aMessage, A2aPart, A2aTask, A2aTaskStatus};

mod request;
mod task;

pub(super) fn decode(method: Method, params: Option<&RawValue>) -> Read<Request> {
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

/// What is sent, out of its envelope if it came in one.
fn opened(body: Option<&RawValue>) -> Read<SendIn<OpenFangPart>> {
    let envelope: Envelope = read::params(body)?;
    if envelope.method.is_some_and(|method| method != "tasks/send") {
        return Err(A2aError::invalid("method", "this address takes `tasks/send` only"));
    }
    match envelope.params {
        Some(Object(params)) => Ok(params),
        None => read::params(body),
    }
}

/// There are no streams; only what is a task has words.
pub(super) fn shows(shown: Shown<'_>) -> bool {
    match shown {
        Shown::Reply(_) | Shown::Item(_, StreamItem::Snapshot(..)) => true,
        Shown::Item(_, StreamItem::Event(_) | StreamItem::Shutdown) => false,
    }
}

pub(super) fn answer<S: Serializer>(answer: &Answer, to: S) -> Result<S::Ok, S::Error> {
    match answer {
        Answer::Sent(held, history) | Answer::Task(held, history) => {
            A2aTask::of(View::of(held, *history)).serialize(to)
        }
        Answer::Replied(message) => A2aTask::of_reply(message).serialize(to),
        Answer::Tasks(page) => PageOut::new(page, |held, page| A2aTask::of(View::listed(held, page))).serialize(to),
        Answer::Card(card) => card.serialize(to),
        // Nothing here asks for these.
        Answer::Push(_) | Answer::Pushes(_) | Answer::Gone => to.serialize_unit(),
    }
}

pub(super) fn shown<S: Serializer>(shown: Shown<'_>, to: S) -> Result<S::Ok, S::Error> {
    match shown {
        Shown::Reply(message) => A2aTask::of_reply(message).serialize(to),
        Shown::Item(head, StreamItem::Snapshot(task, _)) => A2aTask::of(View::streamed(head, task)).serialize(to),
        Shown::Item(_, StreamItem::Event(_) | StreamItem::Shutdown) => to.serialize_unit(),
    }
}

#[cfg(test)]
#[path = "openfang_tests.rs"]
mod tests;
