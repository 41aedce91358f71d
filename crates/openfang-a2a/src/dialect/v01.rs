//! A2A 0.1: tasks that are sent, parts with a `type`, and the caller names its tasks.
//!
//! There is no answer without a task here: the host is told to make one. A message alone is written as a completed
//! task, so that writing never fails.

use openfang_types::jsonrpc::ErrorObject;

use crate::error::A2aError;
use crate::operation::Method;

pub(super) use super::write::is_news as shows;
pub(super) use decode::{SendIn, TaskIn, decode};
pub(super) use encode::{answer, shown};
pub(super) use request::{SendRequest, params};

mod decode;
mod encode;
mod request;
mod task;

pub(super) const METHODS: &[(&str, Method)] = &[
    ("tasks/send", Method::Send),
    ("tasks/sendSubscribe", Method::Stream),
    ("tasks/get", Method::Get),
    ("tasks/cancel", Method::Cancel),
    ("tasks/resubscribe", Method::Subscribe),
    ("tasks/pushNotification/set", Method::SetPush),
    ("tasks/pushNotification/get", Method::GetPush),
];

/// OpenFang's dialect says it the same way.
pub(super) fn error(error: &A2aError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string())
}

#[cfg(test)]
#[path = "v01_tests.rs"]
mod tests;
