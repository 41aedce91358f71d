//! Skills: instructions in a directory with a `SKILL.md`. Patterns of their names, and what is shown of them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::text_matches;
use crate::ids::{ServerName, SkillName};
use crate::limits::SKILL_NAME_MAX_BYTES;

/// A pattern of skill names, such as `pdf-forms`, `pdf-*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct SkillPattern(Box<str>);

/// A text that is no pattern of skill names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a skill pattern: use lower case letters, digits, hyphens and *")]
pub struct SkillPatternError(String);

impl SkillPattern {
    /// Whether this pattern covers the skill.
    pub fn covers(&self, skill: &SkillName) -> bool {
        text_matches(&self.0, skill.as_str())
    }
}

impl FromStr for SkillPattern {
    type Err = SkillPatternError;

    fn from_str(text: &str) -> Result<Self, SkillPatternError> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'*');
        if text.is_empty() || text.len() > SKILL_NAME_MAX_BYTES || !text.bytes().all(is_plain) {
            return Err(SkillPatternError(text.chars().take(80).collect()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for SkillPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SkillPattern {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How far a skill may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkillState {
    /// It was found or installed, and nobody has trusted it.
    Installed,
    /// Its files are exactly those that were trusted.
    Trusted,
    /// Its files are not those that were trusted.
    Changed,
    /// It was trusted, and its files are gone or cannot be used.
    Missing,
}

impl SkillState {
    /// The word for it in lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Missing => "missing",
        }
    }
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillFile {
    /// The path in the skill, with `/`.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// The number of bytes.
    pub size: u64,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillView {
    pub name: SkillName,
    pub description: String,
    pub state: SkillState,
    /// Whether agents may activate it. A skill that has changed is not used, whatever this says.
    pub enabled: bool,
    /// Whether it is used now.
    pub active: bool,
    /// Where it lies or came from.
    pub source: String,
    /// The MCP server that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerName>,
    /// The digest of all its files.
    pub digest: String,
}

/// A skill that was found and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnusableSkill {
    pub source: String,
    pub reason: String,
}

/// The skills of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillList {
    pub skills: Vec<SkillView>,
    /// What was found and cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<UnusableSkill>,
    /// The project directories in which skills are looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
}

/// Something in a skill that a person should look at before trusting it. It never decides anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillFinding {
    pub path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    pub what: String,
}

/// How a file of a skill differs from the one that was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillChange {
    pub path: String,
    pub kind: SkillChangeKind,
    /// The text that was trusted, where it is a text that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text now, where it is a text that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkillChangeKind {
    Added,
    Changed,
    Removed,
}

/// Everything about a skill that a person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillDetails {
    #[serde(flatten)]
    pub skill: SkillView,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The tools that the skill expects, as it names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    pub files: Vec<SkillFile>,
    /// What does not follow the standard, and is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<SkillFinding>,
    /// What differs from the files that were trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<SkillChange>,
    /// The text of `SKILL.md` below the frontmatter.
    pub instructions: String,
}

/// What is done to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SkillAction {
    /// Trusts the files as they are. With a digest, only if they have it.
    Trust {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    },
    Enable {},
    Disable {},
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
