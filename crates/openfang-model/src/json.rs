//! JSON written member by member, in the order of the calls. The order matters: what stays the same from request to
//! request comes first, so that a provider's prompt cache finds it.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A JSON object under construction.
pub(crate) struct Object {
    text: String,
}

impl Object {
    pub(crate) fn new() -> Self {
        Self { text: "{".to_owned() }
    }

    /// An object with the member `type`.
    pub(crate) fn typed(kind: &str) -> Self {
        Self::new().text("type", kind)
    }

    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_text(&mut self.text, value);
        self
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(mut self, name: &str, json: &str) -> Self {
        self.name(name);
        self.text.push_str(json);
        self
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, &value.to_string())
    }

    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// A number with a fraction. What JSON cannot write is left out.
    pub(crate) fn fraction(self, name: &str, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.raw(name, &Value::from(value).to_string()),
            None => self,
        }
    }

    /// Adds members if there is something to add.
    pub(crate) fn with<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    pub(crate) fn end(mut self) -> String {
        self.text.push('}');
        self.text
    }

    fn name(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        push_text(&mut self.text, name);
        self.text.push(':');
    }
}

/// A JSON array of values that are JSON already.
pub(crate) fn array<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    let mut text = "[".to_owned();
    for value in values {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(value.as_ref());
    }
    text.push(']');
    text
}

/// A string as JSON.
pub(crate) fn string(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    push_text(&mut text, value);
    text
}

/// Adds a member at the end of a JSON object.
pub(crate) fn with_member(object: &str, name: &str, json: &str) -> String {
    let open = object.trim_end().strip_suffix('}').unwrap_or(object).trim_end();
    let comma = if open.ends_with('{') { "" } else { "," };
    format!("{open}{comma}{}:{json}}}", string(name))
}

fn push_text(into: &mut String, value: &str) {
    into.push('"');
    let mut plain = 0;
    for (at, byte) in value.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        into.push_str(&value[plain..at]);
        if escaped.is_empty() {
            into.push_str(&format!("\\u{byte:04x}"));
        } else {
            into.push_str(escaped);
        }
        plain = at + 1;
    }
    into.push_str(&value[plain..]);
    into.push('"');
}

/// A count of tokens. Providers have sent floats, negative numbers and texts here: what is not a whole number is absent.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(from)?.as_u64())
}

/// A value that some servers write as `null` where they mean nothing.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
