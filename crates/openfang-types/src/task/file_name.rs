//! The name of a file in a part: whoever makes it, it can be shown, pushed and used as a name.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::limits::FILENAME_MAX_CHARS;
use crate::unseen::is_unseen;

/// The name of a file, without what a terminal or a file system would trip over. There is no other way to make one, so a
/// part of an agent, a tool, a script or an older version has a plain name too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct FileName(String);

impl FileName {
    /// The last name of a path, made plain; `file` where nothing is left of it.
    pub fn new(name: &str) -> Self {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let plain = |c: &char| !is_unseen(*c);
        let kept: String = last.chars().filter(plain).take(FILENAME_MAX_CHARS).collect();
        let kept = kept.trim_matches([' ', '.']);
        Self(if kept.is_empty() { "file".to_owned() } else { kept.to_owned() })
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for FileName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for FileName {
    fn from(name: String) -> Self {
        Self::new(&name)
    }
}

impl<'de> Deserialize<'de> for FileName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
#[path = "file_name_tests.rs"]
mod tests;
