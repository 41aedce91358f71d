//! Requests on their way out: what each dialect writes for an operation, as plain values that any transport can carry.
//!
//! Hints that a dialect has no word for are left out. What would change the meaning of a request is refused: see
//! [`WriteError`].

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Dialect, openfang, v01, v03, v03_proto, v10};
use crate::operation::{Method, Operation, Request};

/// A call of JSON-RPC, without its envelope.
#[derive(Debug, Clone)]
pub struct RpcCall {
    /// As the dialect names it.
    pub method: &'static str,
    /// An object; none where the dialect has no parameters for the method.
    pub params: Option<Box<RawValue>>,
}

/// A call of HTTP+JSON.
#[derive(Debug, Clone)]
pub struct HttpCall {
    /// The verb of HTTP.
    pub verb: Verb,
    /// Below the address of the agent, without a slash at its beginning; each segment is percent-encoded.
    pub path: String,
    /// What stands after the `?`; may be empty.
    pub query: String,
    /// An object.
    pub body: Option<Box<RawValue>>,
}

/// The verbs of HTTP that A2A uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
}

impl Verb {
    /// As HTTP writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Why a request cannot be written in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The dialect lacks the operation.
    #[error("A2A {0} has no operation `{1}`")]
    NoOperation(Dialect, Method),
    /// The dialect lacks the binding.
    #[error("A2A {0} is not spoken over {1}")]
    NoBinding(Dialect, &'static str),
    /// The dialect cannot say which of several agents is meant.
    #[error("A2A {0} has no tenants; use the address of the agent itself")]
    NoTenant(Dialect),
    /// Only the agent names tasks in this dialect.
    #[error("in A2A {0} the agent names new tasks; leave the name out")]
    NewTask(Dialect),
    /// The request does not say which task it is about.
    #[error("name the task")]
    TaskUnnamed,
    /// The request does not say which push configuration it is about.
    #[error("name the push configuration; A2A {0} keeps several for a task")]
    PushUnnamed(Dialect),
    /// The name would change the path that it becomes part of.
    #[error("{0:?} cannot be part of a path")]
    PathSegment(String),
    /// The values cannot be written as JSON.
    #[error("the request cannot be written as JSON: {0}")]
    Json(String),
}

pub(super) type Written<T> = Result<T, WriteError>;

impl Dialect {
    /// A request as a call of JSON-RPC.
    pub fn write_rpc(self, request: &Request) -> Result<RpcCall, WriteError> {
        let method = request.operation.method();
        if self.methods().is_empty() {
            return Err(WriteError::NoBinding(self, "JSON-RPC"));
        }
        let known = self.methods().iter().find(|(_, known)| *known == method);
        let (name, _) = known.ok_or(WriteError::NoOperation(self, method))?;
        let params = match self {
            Self::OpenFang | Self::V03Proto => return Err(WriteError::NoBinding(self, "JSON-RPC")),
            Self::V01 => Some(v01::params(request)?),
            Self::V03 => v03::params(request)?,
            Self::V10 => Some(v10::params(request)?),
        };
        Ok(RpcCall { method: name, params })
    }

    /// A request as a call of HTTP+JSON.
    pub fn write_http(self, request: &Request) -> Result<HttpCall, WriteError> {
        match self {
            Self::V01 | Self::V03 => Err(WriteError::NoBinding(self, "HTTP+JSON")),
            Self::OpenFang => openfang::http_call(request),
            Self::V03Proto => v03_proto::http_call(request),
            Self::V10 => v10::http_call(request),
        }
    }

    /// Refuses a tenant in a dialect that has none.
    pub(super) fn without_tenant(self, request: &Request) -> Written<&Operation> {
        match request.tenant() {
            Some(_) => Err(WriteError::NoTenant(self)),
            None => Ok(&request.operation),
        }
    }
}

impl HttpCall {
    pub(super) fn get(path: String) -> Self {
        Self { verb: Verb::Get, path, query: String::new(), body: None }
    }

    pub(super) fn delete(path: String) -> Self {
        Self { verb: Verb::Delete, ..Self::get(path) }
    }

    pub(super) fn post(path: String, body: &impl Serialize) -> Written<Self> {
        Ok(Self { verb: Verb::Post, body: Some(json(body)?), ..Self::get(path) })
    }

    /// Adds a member of the query, if there is one.
    pub(super) fn asking(mut self, key: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            let mut query = url::form_urlencoded::Serializer::new(std::mem::take(&mut self.query));
            self.query = query.append_pair(key, value.as_ref()).finish();
        }
        self
    }
}

pub(super) fn json(value: &impl Serialize) -> Written<Box<RawValue>> {
    to_raw_value(value).map_err(|error| WriteError::Json(error.to_string()))
}

/// The first segments of a path of HTTP+JSON that name no agent: they mean something else.
pub(crate) const OWN_SEGMENTS: [&str; 5] = ["message:send", "message:stream", "tasks", "extendedAgentCard", "v1"];

/// What needs no encoding in a path.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as one segment of a path. Dots alone would lead elsewhere, encoded or not.
pub(super) fn segment(name: &str) -> Written<String> {
    if name.is_empty() || name.bytes().all(|byte| byte == b'.') {
        return Err(WriteError::PathSegment(name.to_owned()));
    }
    Ok(utf8_percent_encode(name, &PLAIN).to_string())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
