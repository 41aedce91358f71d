//! A2A 1.0: the JSON form of its protocol buffers.

use openfang_types::jsonrpc::ErrorObject;

use crate::error::A2aError;
use crate::operation::Method;

pub(super) use super::write::is_news as can_write;
pub(super) use decode::decode;
pub(super) use encode::{answer, shown};
pub(super) use request::{http_call, listed, params};

mod decode;
mod encode;
mod problem;
mod request;
mod task;

pub(super) const METHODS: &[(&str, Method)] = &[
    ("SendMessage", Method::Send),
    ("SendStreamingMessage", Method::Stream),
    ("GetTask", Method::Get),
    ("ListTasks", Method::List),
    ("CancelTask", Method::Cancel),
    ("SubscribeToTask", Method::Subscribe),
    ("CreateTaskPushNotificationConfig", Method::SetPush),
    ("GetTaskPushNotificationConfig", Method::GetPush),
    ("ListTaskPushNotificationConfigs", Method::ListPush),
    ("DeleteTaskPushNotificationConfig", Method::DeletePush),
    ("GetExtendedAgentCard", Method::ExtendedCard),
];

pub(super) fn error(error: &A2aError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string()).with_data(&problem::details(error))
}

#[cfg(test)]
#[path = "v10_tests.rs"]
mod tests;
