//! The dialects. Each is free of I/O and serves both sides: a server reads requests and writes answers, a client writes
//! requests and reads answers. `server` selects the dialect of a request once: by method, then by version, then by the
//! dialect in which the task was created.

use std::fmt;

use openfang_types::jsonrpc::ErrorObject;
use openfang_types::task::Origin;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::answer::{Answer, StreamEvent};
use crate::error::A2aError;
use crate::operation::{Method, Request};

mod answer;
mod openfang;
mod read;
mod request;
#[cfg(test)]
mod samples;
mod v01;
mod v03;
mod v03_proto;
mod v10;
mod write;

pub use answer::{PeerResponse, ReadContext};
pub use openfang::{A2aArtifact, A2aMessage, A2aPart, A2aTask, A2aTaskStatus};
pub(crate) use request::OWN_SEGMENTS;
pub use request::{HttpCall, RpcCall, Verb, WriteError};

/// The wire format of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenFang's own REST dialect: a task without an envelope, with a flat status.
    OpenFang,
    V01,
    /// A2A 0.2 and 0.3: `message/send`, with a `kind` in every object.
    V03,
    /// A2A 0.3 on HTTP+JSON: the JSON form of its protocol buffers.
    V03Proto,
    V10,
}

impl Dialect {
    pub const ALL: [Self; 5] = [Self::OpenFang, Self::V01, Self::V03, Self::V03Proto, Self::V10];

    /// The JSON-RPC methods of the dialect. The HTTP+JSON dialects have none.
    pub const fn methods(self) -> &'static [(&'static str, Method)] {
        match self {
            Self::OpenFang | Self::V03Proto => &[],
            Self::V01 => v01::METHODS,
            Self::V03 => v03::METHODS,
            Self::V10 => v10::METHODS,
        }
    }

    /// The `A2A-Version` a client sends. None before 1.0: agents of both versions refuse the older methods if a version
    /// is stated.
    pub const fn stated_version(self) -> Option<&'static str> {
        match self {
            Self::OpenFang | Self::V01 | Self::V03 | Self::V03Proto => None,
            Self::V10 => Some("1.0"),
        }
    }

    /// The origin of tasks created in this dialect.
    pub const fn origin(self) -> Origin {
        match self {
            Self::OpenFang => Origin::OpenFangA2a,
            Self::V01 => Origin::V01,
            Self::V03 | Self::V03Proto => Origin::V03,
            Self::V10 => Origin::V10,
        }
    }

    /// Reads the parameters of a method, or the request body that stands for them. Spellings are read leniently,
    /// meanings are checked strictly.
    pub fn decode(self, method: Method, params: Option<&RawValue>) -> Result<Request, A2aError> {
        match self {
            Self::OpenFang => openfang::decode(method, params),
            Self::V01 => v01::decode(method, params),
            Self::V03 => v03::decode(method, params),
            Self::V03Proto => v03_proto::decode(method, params),
            Self::V10 => v10::decode(method, params),
        }
    }

    /// Whether the dialect can express this event.
    pub fn can_write(self, shown: StreamEvent<'_>) -> bool {
        match self {
            Self::OpenFang => openfang::can_write(shown),
            Self::V01 => v01::can_write(shown),
            Self::V03 => v03::can_write(shown),
            Self::V03Proto => v03_proto::can_write(shown),
            Self::V10 => v10::can_write(shown),
        }
    }

    /// The error object for a refusal.
    pub fn error(self, error: &A2aError) -> ErrorObject {
        match self {
            Self::OpenFang | Self::V01 => v01::error(error),
            Self::V03 | Self::V03Proto => v03::error(error),
            Self::V10 => v10::error(error),
        }
    }
}

impl fmt::Display for Dialect {
    /// The version in the usual notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenFang => "in OpenFang's dialect",
            Self::V01 => "0.1",
            Self::V03 => "0.3",
            Self::V03Proto => "0.3 on HTTP+JSON",
            Self::V10 => "1.0",
        })
    }
}

/// A value of the model, serialized in a dialect.
#[derive(Clone, Copy)]
pub struct InDialect<'a, T>(pub Dialect, pub &'a T);

impl Serialize for InDialect<'_, Answer> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Dialect::OpenFang => openfang::answer(self.1, to),
            Dialect::V01 => v01::answer(self.1, to),
            Dialect::V03 => v03::answer(self.1, to),
            Dialect::V03Proto => v03_proto::answer(self.1, to),
            Dialect::V10 => v10::answer(self.1, to),
        }
    }
}

impl Serialize for InDialect<'_, StreamEvent<'_>> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Dialect::OpenFang => openfang::shown(*self.1, to),
            Dialect::V01 => v01::shown(*self.1, to),
            Dialect::V03 => v03::shown(*self.1, to),
            Dialect::V03Proto => v03_proto::shown(*self.1, to),
            Dialect::V10 => v10::shown(*self.1, to),
        }
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
