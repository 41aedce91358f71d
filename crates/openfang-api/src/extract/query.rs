//! A query string as a type, and in our own words what is wrong with it: which key, and what it takes.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// What an unknown key is cut to in the answer.
const KEY_SHOWN_CHARS: usize = 64;

/// The pairs of a query string as a type.
pub(super) fn read<T: DeserializeOwned>(pairs: Vec<(String, String)>) -> Result<T, QueryError> {
    T::deserialize(MapAccessDeserializer::new(Pairs { left: pairs.into_iter(), open: None }))
}

/// What is wrong with a query string.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueryError(String);

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueryError {}

impl serde::de::Error for QueryError {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let field: String = field.chars().take(KEY_SHOWN_CHARS).collect();
        Self(format!("unknown query parameter {field:?}; known are {}", expected.join(", ")))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self(format!("must be one of {}", expected.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("the query parameter {field} is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(format!("the query parameter {field} is repeated"))
    }
}

/// The pairs, one after the other.
struct Pairs {
    left: std::vec::IntoIter<(String, String)>,
    /// The pair whose key was read.
    open: Option<(String, String)>,
}

impl<'de> MapAccess<'de> for Pairs {
    type Error = QueryError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, QueryError> {
        self.open = self.left.next();
        let key = self.open.as_ref().map(|(key, _)| key.as_str());
        key.map(|key| seed.deserialize(key.into_deserializer())).transpose()
    }

    /// Whatever is wrong with a value is said with its key.
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, QueryError> {
        let (key, text) = self.open.take().unwrap_or_default();
        seed.deserialize(Value(text))
            .map_err(|QueryError(why)| QueryError(format!("{key}: {why}")))
    }
}

/// What a key has.
struct Value(String);

impl<'de> Deserializer<'de> for Value {
    type Error = QueryError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        match self.0.parse() {
            Ok(yes) => visitor.visit_bool(yes),
            Err(_) => Err(QueryError("must be true or false".to_owned())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, to: V) -> Result<V::Value, QueryError> {
        to.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, QueryError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
