//! The arguments of a call: written and parsed, each made from the other when it is needed.

use std::sync::OnceLock;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The arguments of a call. Relayed arguments stay as they were written; whoever looks into them has them parsed once.
#[derive(Debug, Clone, Default)]
pub struct Arguments<'a> {
    given: Option<&'a RawValue>,
    written: OnceLock<Box<RawValue>>,
    parsed: OnceLock<Value>,
}

impl<'a> Arguments<'a> {
    /// As somebody wrote them; no arguments are an empty object.
    pub fn written_by(raw: Option<&'a RawValue>) -> Self {
        match raw {
            Some(_) => Self { given: raw, ..Self::default() },
            None => Self::from(Value::Object(Map::new())),
        }
    }

    pub fn json(&self) -> &RawValue {
        self.given.unwrap_or_else(|| {
            let write = || self.parsed.get().and_then(|value| to_raw_value(value).ok());
            self.written.get_or_init(|| write().unwrap_or_else(|| RawValue::NULL.to_owned()))
        })
    }

    /// As JSON, where somebody wrote it.
    pub const fn as_written(&self) -> Option<&RawValue> {
        self.given
    }

    /// Parsed. A number that no type of ours can hold is an error.
    pub fn value(&self) -> Result<&Value, serde_json::Error> {
        match self.parsed.get() {
            Some(value) => Ok(value),
            None => {
                let value = serde_json::from_str(self.json().get())?;
                Ok(self.parsed.get_or_init(|| value))
            }
        }
    }

    /// Takes what was parsed, to be given back with [`Arguments::with_parsed`]: a check may take it to another thread.
    pub fn take_parsed(&mut self) -> Value {
        if self.given.is_none() {
            self.json();
        }
        self.parsed.take().unwrap_or_default()
    }

    /// The same arguments with what [`Arguments::take_parsed`] took.
    #[must_use]
    pub fn with_parsed(self, value: Value) -> Self {
        Self { parsed: OnceLock::from(value), ..self }
    }

    /// Parsed, and no longer needed otherwise.
    pub fn into_value(self) -> Result<Value, serde_json::Error> {
        match self.parsed.into_inner() {
            Some(value) => Ok(value),
            None => serde_json::from_str(self.given.map_or("{}", RawValue::get)),
        }
    }
}

impl From<Value> for Arguments<'_> {
    fn from(value: Value) -> Self {
        Self { parsed: OnceLock::from(value), ..Self::default() }
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
