//! A tool's schema as a provider accepts it. Only what the model is shown changes: whoever runs the call still checks the
//! arguments against the real schema, so losing detail here is safe.
//!
//! References are inlined and recursion becomes `{}`. Unions at the root are merged into one object. Property names that
//! a provider rejects are replaced, and [`restore`] puts the real names back into the arguments of a call.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use openfang_types::limits::MODEL_TOOL_NAME_MAX;

use inline::Inliner;

mod inline;
mod root;

/// What a provider rejects in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaDialect {
    /// Property names must match `[A-Za-z0-9_.-]{1,64}`.
    pub(crate) plain_properties: bool,
    /// A `type` that is a list becomes its first type that is not null.
    pub(crate) single_types: bool,
}

/// A schema that a provider accepts, and the property names that were replaced: new to old.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdvertisedSchema {
    pub(crate) json: Value,
    pub(crate) renames: HashMap<String, String>,
    /// A rule of the original that only words can express.
    pub(crate) note: Option<String>,
}

/// Rewrites a schema for a provider. Anything but an object becomes an object without properties.
pub(crate) fn advertise(schema: &Value, dialect: SchemaDialect) -> AdvertisedSchema {
    let mut inliner = Inliner::new(schema, dialect);
    let inlined = inliner.inlined(schema);
    let (json, note) = root::as_object(inlined);
    AdvertisedSchema { json, renames: inliner.renames, note }
}

/// Puts the real property names back, at every level.
pub(crate) fn restore(value: Value, renames: &HashMap<String, String>) -> Value {
    match value {
        Value::Object(members) => {
            let restored = members.into_iter().map(|(key, value)| {
                let key = renames.get(&key).cloned().unwrap_or(key);
                (key, restore(value, renames))
            });
            Value::Object(restored.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| restore(item, renames)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// A name in the letters that a provider takes. What had to change ends in a hash of the whole name, so two names stay
/// two.
pub(crate) fn plain_name(name: &str, is_fine: impl Fn(char) -> bool) -> Option<String> {
    if !name.is_empty() && name.len() <= MODEL_TOOL_NAME_MAX && name.chars().all(&is_fine) {
        return None;
    }
    let letters = name.chars().map(|letter| if is_fine(letter) { letter } else { '_' });
    let kept: String = letters.take(MODEL_TOOL_NAME_MAX - 9).collect();
    Some(format!("{kept}_{}", short_hash(name)))
}

/// Eight digits that stand for a text.
pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
