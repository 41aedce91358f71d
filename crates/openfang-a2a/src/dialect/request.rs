//! Writes requests: what each dialect sends for an operation, as plain values for any transport.
//!
//! Hints that a dialect cannot express are dropped. Anything that would change the meaning of a request is refused: see
//! [`WriteError`].

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Dialect, openfang, v01, v03, v03_proto, v10};
use crate::operation::{Method, Operation, Request};

/// A JSON-RPC call without its envelope.
#[derive(Debug, Clone)]
pub struct RpcCall {
    /// The dialect's name of the method.
    pub method: &'static str,
    /// An object. None where the method has no parameters in this dialect.
    pub params: Option<Box<RawValue>>,
}

#[derive(Debug, Clone)]
pub struct HttpCall {
    /// The verb of HTTP.
    pub verb: Verb,
    /// The path below the agent's URL, without a leading slash. Each segment is percent-encoded.
    pub path: String,
    /// The query string, without the `?`. May be empty.
    pub query: String,
    pub body: Option<Box<RawValue>>,
}

/// The HTTP methods A2A uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    /// The method name in HTTP.
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
    /// The dialect does not have the operation.
    #[error("A2A {0} has no operation `{1}`")]
    NoOperation(Dialect, Method),
    /// The dialect does not have the binding.
    #[error("A2A {0} has no {1} binding")]
    NoBinding(Dialect, &'static str),
    /// The dialect cannot address one of several agents.
    #[error("A2A {0} has no tenants; use the address of the agent itself")]
    NoTenant(Dialect),
    /// Only the agent names new tasks in this dialect.
    #[error("in A2A {0} the agent names new tasks; leave the name out")]
    NewTask(Dialect),
    /// The request does not name its task.
    #[error("the task is missing")]
    TaskUnnamed,
    /// The request does not name its push configuration.
    #[error("the push configuration is missing; in A2A {0} a task can have several")]
    PushUnnamed(Dialect),
    /// The name would change the path it becomes part of.
    #[error("{0:?} cannot be used in a path")]
    PathSegment(String),
    /// The values cannot be written as JSON.
    #[error("the request cannot be written as JSON: {0}")]
    Json(String),
}

pub(super) type WriteResult<T> = Result<T, WriteError>;

impl Dialect {
    /// Writes a request as a JSON-RPC call.
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

    /// Writes a request as an HTTP+JSON call.
    pub fn write_http(self, request: &Request) -> Result<HttpCall, WriteError> {
        match self {
            Self::V01 | Self::V03 => Err(WriteError::NoBinding(self, "HTTP+JSON")),
            Self::OpenFang => openfang::http_call(request),
            Self::V03Proto => v03_proto::http_call(request),
            Self::V10 => v10::http_call(request),
        }
    }

    /// Refuses a tenant in a dialect that has none.
    pub(super) fn without_tenant(self, request: &Request) -> WriteResult<&Operation> {
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

    pub(super) fn post(path: String, body: &impl Serialize) -> WriteResult<Self> {
        Ok(Self { verb: Verb::Post, body: Some(json(body)?), ..Self::get(path) })
    }

    /// Adds a query parameter, if there is a value.
    pub(super) fn asking(mut self, key: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            let mut query = url::form_urlencoded::Serializer::new(std::mem::take(&mut self.query));
            self.query = query.append_pair(key, value.as_ref()).finish();
        }
        self
    }
}

pub(super) fn json(value: &impl Serialize) -> WriteResult<Box<RawValue>> {
    to_raw_value(value).map_err(|error| WriteError::Json(error.to_string()))
}

/// The first path segments of HTTP+JSON that have a fixed meaning and so cannot name an agent.
pub(crate) const OWN_SEGMENTS: [&str; 5] = ["message:send", "message:stream", "tasks", "extendedAgentCard", "v1"];

/// The characters that need no encoding in a path.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as one path segment. A segment of dots would change the path, even if it is encoded.
pub(super) fn segment(name: &str) -> WriteResult<String> {
    if name.is_empty() || name.bytes().all(|byte| byte == b'.') {
        return Err(WriteError::PathSegment(name.to_owned()));
    }
    Ok(utf8_percent_encode(name, &PLAIN).to_string())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
