//! A text that is never printed: not by `Debug`, not by `Serialize`, not in an error.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What stands in the place of a secret wherever one would be shown.
pub const REDACTED: &str = "[redacted]";

/// A configured secret. Reading it takes a call that says so.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret in.
    pub const fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for comparing and for the redaction list.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(REDACTED)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOnly)
    }
}

/// The usual message for a wrong type quotes the value; a secret must not be quoted.
struct TextOnly;

impl Visitor<'_> for TextOnly {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Secret, E> {
        Err(E::custom("expected a text in quotes, found a number"))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Secret, E> {
        self.visit_i64(0)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        self.visit_i64(0)
    }
}
