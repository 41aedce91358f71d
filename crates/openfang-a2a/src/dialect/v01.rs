//! A2A 0.1: `tasks/send`, parts with a `type`, and tasks named by the caller.
//!
//! Every answer is a task here, so the host is told to create one. A message without a task is written as a completed
//! task, so that writing cannot fail.

use openfang_types::jsonrpc::ErrorObject;

use crate::error::A2aError;
use crate::operation::Method;

pub(super) use super::write::is_news as can_write;
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

/// OpenFang's dialect uses the same errors.
pub(super) fn error(error: &A2aError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string())
}

#[cfg(test)]
#[path = "v01_tests.rs"]
mod tests;
