//! Environment variables of a server, and the variables that no server may have.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::secret::REDACTED;

/// The prefix of OpenFang's own variables.
const OWN_PREFIX: &str = "OPENFANG_";

/// An environment variable of a server: a name, or a name and a value. Values are never shown.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct EnvEntry(String);

impl EnvEntry {
    /// Wraps an entry as it is written in the file.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text of the file, including the value.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The name without the value.
    pub fn name(&self) -> &str {
        self.0.split_once('=').map_or(&self.0, |(name, _)| name)
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&str> {
        self.0.split_once('=').map(|(_, value)| value)
    }

    fn shown(&self) -> String {
        match self.value() {
            Some(_) => format!("{}={REDACTED}", self.name()),
            None => self.0.clone(),
        }
    }
}

impl fmt::Debug for EnvEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Serialize for EnvEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.shown())
    }
}

/// Whether an environment variable belongs to OpenFang itself. One of these is the `api_key`.
pub fn is_own_variable(name: &str) -> bool {
    name.get(..OWN_PREFIX.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(OWN_PREFIX))
}

/// OpenFang's own variable after `${`, if there is one.
pub(in crate::config) fn own_reference(reference: &str) -> Option<&str> {
    let (name, _) = reference.split_once('}')?;
    is_own_variable(name).then_some(name)
}
