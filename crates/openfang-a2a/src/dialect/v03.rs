//! A2A 0.2 and 0.3 over JSON-RPC: every object has a `kind`.

use openfang_types::jsonrpc::ErrorObject;

use crate::error::A2aError;
use crate::operation::Method;

pub(super) use super::write::is_news as can_write;
pub(super) use decode::decode;
pub(super) use encode::{answer, shown};
pub(super) use request::{continued, params};

mod decode;
mod encode;
mod request;
mod task;

pub(super) const METHODS: &[(&str, Method)] = &[
    ("message/send", Method::Send),
    ("message/stream", Method::Stream),
    ("tasks/get", Method::Get),
    ("tasks/cancel", Method::Cancel),
    ("tasks/resubscribe", Method::Subscribe),
    ("tasks/pushNotificationConfig/set", Method::SetPush),
    ("tasks/pushNotificationConfig/get", Method::GetPush),
    ("tasks/pushNotificationConfig/list", Method::ListPush),
    ("tasks/pushNotificationConfig/delete", Method::DeletePush),
    ("agent/getAuthenticatedExtendedCard", Method::ExtendedCard),
];

pub(super) fn error(error: &A2aError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string())
}

#[cfg(test)]
#[path = "v03_tests.rs"]
mod tests;
