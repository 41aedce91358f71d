//! The secrets that a server was given: the values of its headers and of variables whose name says so, filled in. Whatever it
//! says is shown without them.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use openfang_types::limits::CHILD_SECRET_MIN_BYTES;
use openfang_types::secret::REDACTED;

/// What a server was given.
#[derive(Default)]
pub(super) struct Given {
    values: RwLock<Vec<String>>,
}

impl Given {
    /// It was given these, too. What is short would be found everywhere.
    pub(super) fn note(&self, values: Vec<String>) {
        let mut known = self.values.write().unwrap_or_else(PoisonError::into_inner);
        for value in values.into_iter().filter(|value| value.len() >= CHILD_SECRET_MIN_BYTES) {
            if !known.contains(&value) {
                known.push(value);
            }
        }
    }

    /// A text without them.
    pub(super) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.values.read().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .filter(|value| text.contains(value.as_str()))
            .fold(Cow::Borrowed(text), |text, value| Cow::Owned(text.replace(value.as_str(), REDACTED)))
    }
}

#[cfg(test)]
#[path = "given_tests.rs"]
mod tests;
