//! The JSON-RPC 2.0 envelope, for every protocol that travels in one.
//!
//! [`decode`] takes a frame through the strict [`scan`](mod@crate::scan) and reads the envelope; `params` and
//! `result` stay [`RawValue`], borrowed from the frame. Members are compared exactly, ids by the protocol's
//! [`IdRule`], and a refusal keeps the id when it could be read, so that the answer can carry it. The encoders write
//! one line each, whatever the raw values hold: a relayed line break must not become a frame of its own on stdio.

use std::borrow::Cow;

use serde_json::value::RawValue;

mod decode;
mod encode;
mod error;
mod id;
mod refusal;

pub use decode::{count_batch, decode, decode_batch, decode_list, is_batch};
pub use encode::{encode_error, encode_notification, encode_request, encode_result, one_line};
pub use error::{ErrorObject, code};
pub use id::{Id, IdRule};
pub use refusal::{Fault, RpcError};

/// One message, as a peer sent it.
#[derive(Debug, Clone)]
pub enum Incoming<'a> {
    /// Wants an answer with this id.
    Request {
        /// What the answer carries.
        id: Id,
        /// Unescaped, otherwise as sent.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a RawValue>,
    },
    Notification {
        /// Unescaped, otherwise as sent.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours.
    Response {
        /// Of our request; [`Id::Null`] with an error where the peer could not tell which.
        id: Id,
        /// What came of it.
        outcome: Result<&'a RawValue, ErrorObject>,
    },
}

#[cfg(test)]
#[path = "jsonrpc_tests.rs"]
mod tests;
