//! Globs over names: `*` stands for any run of characters, everything else for itself.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ToolName};

/// A pattern of tool or agent names, such as `file_*` or `mcp_github_*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Glob(Box<str>);

/// A text that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tool pattern: use tool name characters and *")]
pub struct GlobError(String);

impl Glob {
    /// The pattern that matches every tool.
    pub fn any() -> Self {
        Self("*".into())
    }

    /// Whether this pattern covers the tool.
    pub fn matches(&self, tool: &ToolName) -> bool {
        glob_matches(self.0.as_bytes(), tool.as_str().as_bytes())
    }

    /// Whether this pattern covers the agent.
    pub fn matches_agent(&self, agent: &AgentName) -> bool {
        glob_matches(self.0.as_bytes(), agent.as_str().as_bytes())
    }
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(text: &str) -> Result<Self, GlobError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'*');
        if text.is_empty() || text.len() > crate::limits::TOOL_NAME_MAX_BYTES || !text.bytes().all(plain) {
            return Err(GlobError(text.chars().take(80).collect()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Whether any of the patterns covers the tool.
pub fn any_matches<'a>(globs: impl IntoIterator<Item = &'a Glob>, tool: &ToolName) -> bool {
    globs.into_iter().any(|glob| glob.matches(tool))
}

/// Linear in text times stars: on a mismatch only the last star is reconsidered.
fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&byte) if byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, from)) => {
                    p = after_star;
                    t = from + 1;
                    retry = Some((after_star, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
#[path = "capability_tests.rs"]
mod tests;
