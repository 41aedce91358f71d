//! Shared by the decoders: members are read leniently and checked strictly, and errors name the exact member.
//!
//! Parameters are read into plain structs in one pass. Only if that fails are they read again to find the path.

use std::fmt;
use std::marker::PhantomData;

use openfang_types::ids::MessageId;
use openfang_types::limits;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::error::A2aError;

pub(super) use listing::ListIn;
pub(super) use message::{MessageIn, Naming, PartIn, present};
pub(super) use part::{LegacyPart, OpenFangPart, any, bytes_of, file_body, unwrapped, whole_numbers};
pub(super) use push::{PushIn, config};
pub(super) use send_message::{SendConventions, SendIn, TaskIn, when};
pub(super) use word::{Count, Flag, Name, Word};

mod listing;
mod message;
mod part;
mod push;
mod send_message;
mod word;

/// The result of a decoder.
pub(super) type ReadResult<T> = Result<T, A2aError>;

/// Metadata of a peer.
pub(super) type Metadata = Object<Map<String, Value>>;

/// A JSON object. Serde would also read a struct from an array, by position.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// The parameters of a method. Absent parameters count as empty ones.
pub(super) fn params<T: DeserializeOwned>(params: Option<&RawValue>) -> ReadResult<T> {
    let text = params.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}");
    match serde_json::from_str::<Object<T>>(text) {
        Ok(Object(read)) => Ok(read),
        Err(first) => Err(located::<T>(text).unwrap_or_else(|| A2aError::invalid("", plain(&first)))),
    }
}

/// Reads unreadable parameters again to locate the error.
fn located<T: DeserializeOwned>(text: &str) -> Option<A2aError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let error = serde_path_to_error::deserialize::<_, Object<T>>(&mut json).err()?;
    let field = Some(error.path().to_string()).filter(|path| path != ".").unwrap_or_default();
    Some(A2aError::invalid(field, plain(error.inner())))
}

/// What was expected, without the position and the actual value, which may be long or secret.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("it must be {expected}"),
        None => text.to_owned(),
    }
}

/// An error of a member, with the path of the object that contains it.
pub(super) fn under(at: &str) -> impl FnOnce(A2aError) -> A2aError + '_ {
    move |error| match error {
        A2aError::InvalidParams { field, why } => {
            let dot = if field.is_empty() || field.starts_with('[') { "" } else { "." };
            A2aError::InvalidParams { field: format!("{at}{dot}{field}"), why }
        }
        error => error,
    }
}

/// Drops an empty text: protocol buffers cannot distinguish it from an absent one.
pub(super) fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// A name chosen by the peer, if present.
pub(super) fn named<T>(field: &str, text: Option<String>) -> ReadResult<Option<T>>
where
    T: std::str::FromStr<Err = openfang_types::ids::IdError>,
{
    let parse = |text: String| text.parse().map_err(|error| A2aError::invalid(field, format!("{error}")));
    filled(text).map(parse).transpose()
}

/// A required name chosen by the peer.
pub(super) fn required<T>(field: &str, text: Option<String>) -> ReadResult<T>
where
    T: std::str::FromStr<Err = openfang_types::ids::IdError>,
{
    named(field, text)?.ok_or_else(|| A2aError::invalid(field, format!("`{field}` is missing; it must be a string")))
}

/// The agent that is addressed.
pub(super) fn tenant(text: Option<String>) -> ReadResult<Option<String>> {
    let text = filled(text);
    if text.as_ref().is_some_and(|text| text.len() > limits::PEER_ID_MAX_BYTES) {
        return Err(A2aError::invalid("tenant", "`tenant` is longer than 256 bytes"));
    }
    Ok(text)
}

/// The metadata of a request and of its message, merged; the message's has precedence.
pub(super) fn merged(outer: Option<Metadata>, inner: Map<String, Value>) -> Map<String, Value> {
    match outer {
        None => inner,
        Some(Object(mut all)) => {
            all.extend(inner);
            all
        }
    }
}

/// A message id for dialects whose messages have none.
pub(super) fn fresh_message_id() -> ReadResult<MessageId> {
    Uuid::now_v7().to_string().parse().map_err(|_| A2aError::Internal)
}

/// An error for a value that is wrong although its type is right.
fn unexpected<E: serde::de::Error>(what: &str) -> E {
    E::custom(format_args!("it must be {what}"))
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
