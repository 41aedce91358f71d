//! Request ids: opaque, kept exactly as the peer sent them, so that a number comes back as a number.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of a request. Fractions, exponents and integers beyond `i64` are refused: they would not come back exactly.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    Number(i64),
    String(String),
    /// `null`; a protocol may forbid it, see [`IdRule`].
    Null,
}

/// Which ids a protocol allows in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// A string or an integer.
    Mcp,
    /// A string, an integer or `null`.
    A2a,
}

impl IdRule {
    /// Whether a request may have this id.
    pub fn allows(self, id: &Id) -> bool {
        match (self, id) {
            (Self::Mcp | Self::A2a, Id::Number(_) | Id::String(_)) | (Self::A2a, Id::Null) => true,
            (Self::Mcp, Id::Null) => false,
        }
    }
}

/// For logs: strings are quoted and escaped, so that `7` and `"7"` stay apart.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::String(text) => write!(f, "{text:?}"),
            Self::Null => f.write_str("null"),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::String(text) => serializer.serialize_str(text),
            Self::Null => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer or null")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Id, E> {
        Ok(Id::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
        match i64::try_from(number) {
            Ok(number) => Ok(Id::Number(number)),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
        Ok(Id::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Id, E> {
        Ok(Id::String(text))
    }

    fn visit_unit<E: Error>(self) -> Result<Id, E> {
        Ok(Id::Null)
    }
}
