//! What the decoders share: reading members leniently, judging them strictly, and saying exactly which one is wrong.
//!
//! Parameters are read into plain structs in one pass. Only when that fails are they read again, with the path.

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
pub(super) use sending::{Manner, SendIn, TaskIn, when};
pub(super) use word::{Count, Flag, Name, Word};

mod listing;
mod message;
mod part;
mod push;
mod sending;
mod word;

/// What a decoder gives.
pub(super) type Read<T> = Result<T, A2aError>;

/// Free data of a peer.
pub(super) type Metadata = Object<Map<String, Value>>;

/// An object of JSON. A struct alone would also be read from an array, by position.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Members(PhantomData))
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// The parameters of a method; none are as good as empty ones.
pub(super) fn params<T: DeserializeOwned>(params: Option<&RawValue>) -> Read<T> {
    let text = params.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}");
    match serde_json::from_str::<Object<T>>(text) {
        Ok(Object(read)) => Ok(read),
        Err(first) => Err(located::<T>(text).unwrap_or_else(|| A2aError::invalid("", plain(&first)))),
    }
}

/// Reads again what could not be read, to find out where it is wrong.
fn located<T: DeserializeOwned>(text: &str) -> Option<A2aError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let error = serde_path_to_error::deserialize::<_, Object<T>>(&mut json).err()?;
    let field = Some(error.path().to_string()).filter(|path| path != ".").unwrap_or_default();
    Some(A2aError::invalid(field, plain(error.inner())))
}

/// What was expected, without the place in the text and without what was there: that can be long, or a secret.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("it must be {expected}"),
        None => text.to_owned(),
    }
}

/// A refusal of a member, seen from the object that holds it.
pub(super) fn under(at: &str) -> impl FnOnce(A2aError) -> A2aError + '_ {
    move |error| match error {
        A2aError::InvalidParams { field, why } => {
            let dot = if field.is_empty() || field.starts_with('[') { "" } else { "." };
            A2aError::InvalidParams { field: format!("{at}{dot}{field}"), why }
        }
        error => error,
    }
}

/// Leaves out what is empty: protocol buffers do not tell it from what is absent.
pub(super) fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// A name that a peer made up, if it gives one.
pub(super) fn named<T>(field: &str, text: Option<String>) -> Read<Option<T>>
where
    T: std::str::FromStr<Err = openfang_types::ids::IdError>,
{
    let parse = |text: String| text.parse().map_err(|error| A2aError::invalid(field, format!("{error}")));
    filled(text).map(parse).transpose()
}

/// A name that must be there.
pub(super) fn required<T>(field: &str, text: Option<String>) -> Read<T>
where
    T: std::str::FromStr<Err = openfang_types::ids::IdError>,
{
    named(field, text)?.ok_or_else(|| A2aError::invalid(field, format!("`{field}` is missing; it must be a text")))
}

/// Which agent is meant.
pub(super) fn tenant(text: Option<String>) -> Read<Option<String>> {
    let text = filled(text);
    if text.as_ref().is_some_and(|text| text.len() > limits::PEER_ID_MAX_BYTES) {
        return Err(A2aError::invalid("tenant", "`tenant` is longer than 256 bytes"));
    }
    Ok(text)
}

/// The free data of a request and of what it carries, together; the latter wins.
pub(super) fn merged(outer: Option<Metadata>, inner: Map<String, Value>) -> Map<String, Value> {
    match outer {
        None => inner,
        Some(Object(mut all)) => {
            all.extend(inner);
            all
        }
    }
}

/// For messages of dialects that have no message ids.
pub(super) fn fresh_message_id() -> Read<MessageId> {
    Uuid::now_v7().to_string().parse().map_err(|_| A2aError::Internal)
}

/// For what only the value shows to be wrong.
fn unexpected<E: serde::de::Error>(what: &str) -> E {
    E::custom(format_args!("it must be {what}"))
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
