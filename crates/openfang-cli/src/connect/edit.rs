//! Edits one entry of a settings file as text. Comments, order and layout of everything else stay.

use serde_json::Value;

use crate::clients::Form;

mod json;
mod toml;

/// Why a text cannot be edited. The text is never quoted, because it may contain secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditFault {
    #[error("it is not valid {language} (line {line}); correct it first")]
    NotParsed { language: &'static str, line: usize },
    /// A value on the way to the servers is something else than a table of members.
    #[error("`{0}` in it is not an object; correct it first")]
    NotAnObject(String),
    /// A key on the way to the servers is there twice, and programs differ in which one counts.
    #[error("`{0}` is in it twice; remove one first")]
    Twice(String),
    #[error("its format cannot be edited")]
    Unsupported,
}

/// A text with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// How many of the last keys on the way to the entry are new.
    pub(crate) created: usize,
}

/// The place of an entry in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) form: Form,
    pub(crate) keys: &'a [&'a str],
    pub(crate) name: &'a str,
}

impl Slot<'_> {
    /// The entry as it is in the text.
    pub(crate) fn get(&self, text: &str) -> Result<Option<Value>, EditFault> {
        match self.form {
            Form::Json { .. } => json::get(text, self.keys, self.name),
            Form::CodexToml => toml::get(text, self.keys, self.name),
            Form::Print(_) => Err(EditFault::Unsupported),
        }
    }

    /// The text with the entry, in the place of one of the same name.
    pub(crate) fn put(&self, text: &str, entry: &Value) -> Result<Edited, EditFault> {
        match self.form {
            Form::Json { .. } => json::put(text, self.keys, self.name, entry),
            Form::CodexToml => toml::put(text, self.keys, self.name, entry),
            Form::Print(_) => Err(EditFault::Unsupported),
        }
    }

    /// The text without the entry. Of the last `created` keys on the way, those that are empty now go too.
    pub(crate) fn remove(&self, text: &str, created: usize) -> Result<String, EditFault> {
        match self.form {
            Form::Json { .. } => json::remove(text, self.keys, self.name, created),
            Form::CodexToml => toml::remove(text, self.keys, self.name, created),
            Form::Print(_) => Err(EditFault::Unsupported),
        }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
