//! The dialect seed.

use openfang_types::jsonrpc::ErrorObject;
use serde::Serializer;
use serde_json::value::RawValue;

use crate::answer::{Answer, Shown};
use crate::error::A2aError;
use crate::operation::{Method, Request};

pub(super) fn decode(_: Method, _: Option<&RawValue>) -> Result<Request, A2aError> {
    Err(A2aError::Internal)
}

pub(super) fn shows(_: Shown<'_>) -> bool {
    false
}

pub(super) fn answer<S: Serializer>(_: &Answer, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_unit()
}

pub(super) fn shown<S: Serializer>(_: Shown<'_>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_unit()
}

pub(super) fn error(error: &A2aError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string())
}
