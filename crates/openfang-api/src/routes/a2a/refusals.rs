//! Writes refusals of the layers in the format of the called binding, because an A2A client cannot read any other.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use openfang_a2a::dialect::Dialect;
use openfang_a2a::error::A2aError;
use openfang_a2a::server::status_body;
use openfang_types::jsonrpc::{ErrorObject, encode_error};
use serde_json::json;

use super::A2aBinding;

/// The response, if the protocol has an error for this status.
pub(crate) fn written(binding: A2aBinding, status: StatusCode, message: &str) -> Option<Response> {
    let error = match status {
        StatusCode::TOO_MANY_REQUESTS => A2aError::TooMany(message.to_owned()),
        StatusCode::BAD_REQUEST
        | StatusCode::REQUEST_TIMEOUT
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => A2aError::InvalidRequest(message.to_owned()),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => A2aError::ContentType(message.to_owned()),
        _ => return None,
    };
    let in_dialect = |dialect: Dialect| ErrorObject { message: message.to_owned(), ..dialect.error(&error) };
    let body = match binding {
        A2aBinding::Rpc | A2aBinding::AgentRpc => encode_error(None, &in_dialect(Dialect::V10)),
        A2aBinding::Rest | A2aBinding::AgentRest => status_body(Dialect::V10, &error, status.as_u16(), Some(message)),
        A2aBinding::OpenFangSend | A2aBinding::OpenFangTask | A2aBinding::OpenFangCancel => {
            serde_json::to_vec(&json!({ "error": in_dialect(Dialect::OpenFang) })).unwrap_or_default()
        }
    };
    Some((status, [(CONTENT_TYPE, "application/json")], body).into_response())
}

#[cfg(test)]
#[path = "refusals_tests.rs"]
mod tests;
