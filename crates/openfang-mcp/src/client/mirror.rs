//! Arguments that headers repeat over HTTP in the modern era, because a tool's schema marks them with `x-mcp-header`.
//!
//! A mark must be good: a tool with a bad one cannot be called over HTTP, and whoever lists it leaves it out. The header
//! of a mark always begins with `Mcp-Param-`, so that no mark can name a header that means something else.

use std::collections::HashSet;

use http::{HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::header_text;
use crate::listing::{MIRRORED, MirroredParam, mirrored_in};

/// The arguments of one tool that headers repeat.
#[derive(Debug, Clone, Default)]
pub struct Mirror {
    params: Vec<(HeaderName, MirroredParam)>,
}

/// Why a tool cannot be called over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMark {
    /// The mark is no text, or no part of a header's name.
    #[error("an x-mcp-header in its schema is no name for a header")]
    Name,
    /// Two marks are the same, whatever their case.
    #[error("two x-mcp-header in its schema are the same")]
    Twice,
    /// The argument cannot stand in a header.
    #[error("an x-mcp-header in its schema marks what is no string, integer or boolean")]
    Type,
    /// Nobody can tell which argument is meant.
    #[error("an x-mcp-header in its schema stands where no single argument is meant")]
    Place,
}

impl Mirror {
    /// Reads the marks of a tool's `inputSchema`.
    pub fn of(schema: &RawValue) -> Result<Self, BadMark> {
        // Most schemas have none, and a look at the bytes says so.
        if !schema.get().contains(MIRRORED) {
            return Ok(Self::default());
        }
        let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
        check(&schema, true)?;
        let mut found = Vec::new();
        mirrored_in(&schema, &mut Vec::new(), &mut found);
        let mut names = HashSet::new();
        let mut params = Vec::with_capacity(found.len());
        for param in found {
            let header = header_text::param(&param.header)
                .filter(|_| !param.header.is_empty())
                .ok_or(BadMark::Name)?;
            if !names.insert(header.clone()) {
                return Err(BadMark::Twice);
            }
            params.push((header, param));
        }
        Ok(Self { params })
    }

    /// Whether nothing is repeated.
    pub const fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// The headers for these arguments; none for one that is absent or null.
    pub fn headers(&self, arguments: Option<&RawValue>) -> Vec<(HeaderName, HeaderValue)> {
        if self.params.is_empty() {
            return Vec::new();
        }
        let arguments: Value = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let header = |(name, param): &(HeaderName, MirroredParam)| {
            let value = match param.value_in(&arguments) {
                Value::String(text) => header_text::encoded(text),
                Value::Bool(true) => Some(HeaderValue::from_static("true")),
                Value::Bool(false) => Some(HeaderValue::from_static("false")),
                Value::Number(number) => header_text::encoded(&number.to_string()),
                // The server says what it thinks of an argument of another type.
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            value.map(|value| (name.clone(), value))
        };
        self.params.iter().filter_map(header).collect()
    }
}

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: [&str; 14] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value has schemas by name.
const NAMED_SCHEMAS: [&str; 4] = ["$defs", "definitions", "dependentSchemas", "patternProperties"];

/// Checks the marks of a schema and of all below it. Only what `properties` lead to is one argument.
fn check(schema: &Value, is_one_argument: bool) -> Result<(), BadMark> {
    let Some(members) = schema.as_object() else { return Ok(()) };
    for (keyword, value) in members {
        match keyword.as_str() {
            MIRRORED if !is_one_argument => return Err(BadMark::Place),
            MIRRORED if !value.is_string() => return Err(BadMark::Name),
            MIRRORED if !is_plain(&schema["type"]) => return Err(BadMark::Type),
            "properties" => value
                .as_object()
                .map_or(Ok(()), |named| named.values().try_for_each(|value| check(value, is_one_argument)))?,
            keyword if NAMED_SCHEMAS.contains(&keyword) => {
                value
                    .as_object()
                    .map_or(Ok(()), |named| named.values().try_for_each(|value| check(value, false)))?;
            }
            keyword if SCHEMAS.contains(&keyword) => match value {
                Value::Array(all) => all.iter().try_for_each(|value| check(value, false))?,
                one => check(one, false)?,
            },
            _ => {}
        }
    }
    Ok(())
}

/// Whether values of this type can stand in a header. One that may also be null is left out where it is.
fn is_plain(named: &Value) -> bool {
    let is_plain = |named: &Value| matches!(named.as_str(), Some("string" | "integer" | "boolean"));
    match named {
        Value::Array(named) => {
            named.iter().filter(|named| is_plain(named)).count() == 1
                && named.iter().all(|named| is_plain(named) || named == "null")
        }
        named => is_plain(named),
    }
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
