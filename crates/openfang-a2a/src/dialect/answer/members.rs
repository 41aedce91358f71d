//! Takes the members of an object one by one, under any of their spellings.

use openfang_types::ids::IdError;
use serde_json::{Map, Value};

use crate::dialect::read::ReadResult;
use crate::error::A2aError;

/// An object that is being read. A null member counts as absent.
pub(super) struct MemberReader(Map<String, Value>);

impl From<Map<String, Value>> for MemberReader {
    fn from(members: Map<String, Value>) -> Self {
        Self(members)
    }
}

impl MemberReader {
    pub(super) fn of(value: Value) -> ReadResult<Self> {
        match value {
            Value::Object(members) => Ok(Self(members)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(A2aError::invalid("", "it must be an object"))
            }
        }
    }

    /// The members nobody has taken.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.0
    }

    pub(super) fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().filter_map(|name| self.0.get(*name)).find(|value| !value.is_null())
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.get(names).is_some()
    }

    pub(super) fn take(&mut self, names: &[&str]) -> Option<Value> {
        let name = names.iter().find(|name| self.0.get(**name).is_some_and(|value| !value.is_null()))?;
        self.0.remove(*name)
    }

    /// A member that may be null.
    pub(super) fn take_any(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// A nested object, if the member is one.
    pub(super) fn object(&mut self, names: &[&str]) -> Option<Self> {
        self.get(names).is_some_and(Value::is_object).then_some(())?;
        self.take(names).and_then(|value| Self::of(value).ok())
    }

    /// A descriptive text. Other types and empty texts are dropped.
    pub(super) fn text(&mut self, names: &[&str]) -> Option<String> {
        let is_text = |name: &&&str| self.0.get(**name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let name = names.iter().find(is_text)?;
        match self.0.remove(*name) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        }
    }

    /// A name we will have to repeat to the peer. Some peers write numbers.
    pub(super) fn name<T: std::str::FromStr<Err = IdError>>(&mut self, names: &[&str]) -> ReadResult<Option<T>> {
        let field = names.first().copied().unwrap_or_default();
        let text = match self.take(names) {
            None => return Ok(None),
            Some(Value::String(text)) if text.is_empty() => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(A2aError::invalid(field, "it must be a string")),
        };
        text.parse()
            .map(Some)
            .map_err(|error: IdError| A2aError::invalid(field, error.to_string()))
    }

    pub(super) fn list(&mut self, names: &[&str]) -> ReadResult<Vec<Value>> {
        match self.take(names) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(A2aError::invalid(names.first().copied().unwrap_or_default(), "it must be a list")),
        }
    }

    /// The strings of a descriptive list.
    pub(super) fn texts(&mut self, names: &[&str]) -> Vec<String> {
        let text = |item| if let Value::String(text) = item { Some(text) } else { None };
        match self.take(names) {
            Some(Value::Array(items)) => items.into_iter().filter_map(text).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    pub(super) fn flag(&mut self, names: &[&str]) -> bool {
        match self.take(names) {
            Some(Value::Bool(flag)) => flag,
            Some(Value::String(text)) => text == "true",
            Some(_) | None => false,
        }
    }

    pub(super) fn count(&mut self, names: &[&str]) -> Option<usize> {
        self.take(names).as_ref().and_then(whole).and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn metadata(&mut self) -> Map<String, Value> {
        self.object(&["metadata"]).map(Self::rest).unwrap_or_default()
    }
}

/// A whole number, also written as a double or as a string of digits.
pub(super) fn whole(value: &Value) -> Option<i64> {
    const DOUBLES: std::ops::RangeInclusive<f64> = -9_007_199_254_740_992.0..=9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let double = number.as_f64().filter(|double| double.fract() == 0.0 && DOUBLES.contains(double))?;
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
            Some(double as i64)
        }),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
