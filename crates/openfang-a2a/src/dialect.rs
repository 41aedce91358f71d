//! The dialects: each is pure and serves both sides. For a server it reads requests and writes answers, for a client it
//! writes requests and reads answers. Which one a server speaks is decided once, in `server`: by method, then by version,
//! then by the dialect the task was made in.

use std::fmt;

use openfang_types::jsonrpc::ErrorObject;
use openfang_types::task::Origin;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::answer::{Answer, Shown};
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

pub use answer::{Reading, Received};
pub use openfang::{A2aArtifact, A2aMessage, A2aPart, A2aTask, A2aTaskStatus};
pub(crate) use request::OWN_SEGMENTS;
pub use request::{HttpCall, RpcCall, Verb, WriteError};

/// How a peer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenFang's own REST dialect: a bare task with a flat status.
    OpenFang,
    /// A2A 0.1: `tasks/send`.
    V01,
    /// A2A 0.2 and 0.3: `message/send`, `kind` everywhere.
    V03,
    /// A2A 0.3 on HTTP+JSON: the JSON of its protocol buffers.
    V03Proto,
    /// A2A 1.0.
    V10,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::OpenFang, Self::V01, Self::V03, Self::V03Proto, Self::V10];

    /// Its JSON-RPC methods; the dialects of HTTP+JSON have none.
    pub const fn methods(self) -> &'static [(&'static str, Method)] {
        match self {
            Self::OpenFang | Self::V03Proto => &[],
            Self::V01 => v01::METHODS,
            Self::V03 => v03::METHODS,
            Self::V10 => v10::METHODS,
        }
    }

    /// What a client states as `A2A-Version`. Nothing before 1.0: agents of both versions refuse older methods under a
    /// version.
    pub const fn stated_version(self) -> Option<&'static str> {
        match self {
            Self::OpenFang | Self::V01 | Self::V03 | Self::V03Proto => None,
            Self::V10 => Some("1.0"),
        }
    }

    /// What tasks that are made in it are marked with.
    pub const fn origin(self) -> Origin {
        match self {
            Self::OpenFang => Origin::OpenFangA2a,
            Self::V01 => Origin::V01,
            Self::V03 | Self::V03Proto => Origin::V03,
            Self::V10 => Origin::V10,
        }
    }

    /// Reads the parameters of a method, or the body of a request that stands for it. Lenient in spelling, strict in
    /// meaning.
    pub fn decode(self, method: Method, params: Option<&RawValue>) -> Result<Request, A2aError> {
        match self {
            Self::OpenFang => openfang::decode(method, params),
            Self::V01 => v01::decode(method, params),
            Self::V03 => v03::decode(method, params),
            Self::V03Proto => v03_proto::decode(method, params),
            Self::V10 => v10::decode(method, params),
        }
    }

    /// Whether it has words for this.
    pub fn shows(self, shown: Shown<'_>) -> bool {
        match self {
            Self::OpenFang => openfang::shows(shown),
            Self::V01 => v01::shows(shown),
            Self::V03 => v03::shows(shown),
            Self::V03Proto => v03_proto::shows(shown),
            Self::V10 => v10::shows(shown),
        }
    }

    /// A refusal as an error object.
    pub fn error(self, error: &A2aError) -> ErrorObject {
        match self {
            Self::OpenFang | Self::V01 => v01::error(error),
            Self::V03 | Self::V03Proto => v03::error(error),
            Self::V10 => v10::error(error),
        }
    }
}

impl fmt::Display for Dialect {
    /// The version, as people write it.
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

/// Something of the model, written in a dialect.
#[derive(Clone, Copy)]
pub struct In<'a, T>(pub Dialect, pub &'a T);

impl Serialize for In<'_, Answer> {
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

impl Serialize for In<'_, Shown<'_>> {
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
