//! The entries of the extension for skills (SEP-2640), as a server lists them and as a client reads them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The extension, as it is declared.
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
/// What stands in the place of a list of files that the server does not know beforehand.
const DYNAMIC: &str = "dynamic";

/// A skill, as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The frontmatter of its `SKILL.md`, as JSON.
    pub frontmatter: Map<String, Value>,
    pub resources: SkillResources,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillResources {
    /// All files of the skill.
    Listed(Vec<SkillResource>),
    /// The server makes them up as they are read.
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillResource {
    pub uri: String,
    /// `sha256:` and the digest of its bytes in hexadecimal digits.
    pub digest: String,
    /// The number of its bytes.
    pub size: u64,
}

impl SkillResource {
    /// The digest without the name of its algorithm; none where it is another one.
    pub fn sha256(&self) -> Option<&str> {
        let digest = self.digest.strip_prefix("sha256:")?;
        let is_hex = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
        is_hex.then_some(digest)
    }
}

impl Serialize for SkillResources {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(files) => files.serialize(to),
            Self::Dynamic => to.serialize_str(DYNAMIC),
        }
    }
}

impl<'de> Deserialize<'de> for SkillResources {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match Value::deserialize(from)? {
            Value::String(text) if text == DYNAMIC => Ok(Self::Dynamic),
            files @ Value::Array(_) => serde_json::from_value(files).map(Self::Listed).map_err(D::Error::custom),
            _ => Err(D::Error::custom("resources are a list or \"dynamic\"")),
        }
    }
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
