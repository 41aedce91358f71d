//! Patterns of names: `*` stands for any run of characters, everything else for itself; `server:NAME` is everything of an
//! MCP server.
//!
//! A pattern of tools stays within one server: what it says before its first `*` must name the whole server, or end before
//! the server's name begins. So `mcp_a_*` covers the server `a` and not `a_b`, and `mcp_*` covers all servers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ServerName, ToolName};
use crate::tool::ToolTraits;

/// What the names of all tools of MCP servers begin with.
const ALL_SERVERS: &str = "mcp_";
const SERVER: &str = "server:";

/// Where a tool has its name from: decides which patterns can cover it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// It is a tool of our own.
    Own,
    /// It is a tool of this MCP server.
    Server(Arc<ServerNames>),
    /// It is no tool: the prompts and resources of this MCP server.
    Whole(Arc<ServerNames>),
}

/// How the names of an MCP server begin, and those of other servers that begin with the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerNames {
    /// How its tools begin, such as `mcp_github_`.
    pub prefix: Box<str>,
    /// Prefixes of other servers that are the same, or begin with it. A pattern that begins with one of them is not about
    /// this server.
    pub others: Vec<Box<str>>,
}

impl ServerNames {
    /// Whether a pattern that begins so is about this server.
    fn are_meant_by(&self, pattern: &str) -> bool {
        pattern.starts_with(&*self.prefix) && !self.others.iter().any(|other| pattern.starts_with(&**other))
    }
}

/// A pattern of tool or agent names, such as `file_*` or `mcp_github_*`, or `server:github`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Glob(Box<str>);

/// A text that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tool pattern: use tool name characters and *, or server:NAME")]
pub struct GlobError(String);

impl Glob {
    /// The pattern that matches every tool.
    pub fn any() -> Self {
        Self("*".into())
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this pattern covers the tool.
    pub fn covers(&self, tool: &ToolTraits) -> bool {
        // Skills have patterns of their own.
        if tool.origin.skill().is_some() {
            return false;
        }
        if let Some(server) = self.0.strip_prefix(SERVER) {
            return tool.origin.server().is_some_and(|name| name.as_str() == server);
        }
        match &tool.namespace {
            Namespace::Own => self.fits_name_of_any_server(&tool.name),
            Namespace::Server(names) => self.reaches(names, &tool.name) && self.fits_name_of_any_server(&tool.name),
            Namespace::Whole(names) => {
                let is_rest = |beginning: &str| self.0.strip_prefix(beginning) == Some("*");
                (names.are_meant_by(&self.0) && is_rest(&names.prefix)) || self.is_everything()
            }
        }
    }

    /// Whether this pattern is about the server of a tool.
    fn reaches(&self, names: &ServerNames, tool: &ToolName) -> bool {
        // A name that was too long lost its end, and with it perhaps the end of the server's name.
        let is_cut = !tool.as_str().starts_with(&*names.prefix);
        self.is_for_all_servers() || names.are_meant_by(&self.0) || (is_cut && *self.0 == *tool.as_str())
    }

    /// Whether it covers everything of all servers.
    fn is_everything(&self) -> bool {
        self.0
            .split_once('*')
            .is_some_and(|(literal, rest)| rest.is_empty() && ALL_SERVERS.starts_with(literal))
    }

    /// Whether its first `*` comes before the name of a server would begin.
    fn is_for_all_servers(&self) -> bool {
        self.0.split_once('*').is_some_and(|(literal, _)| ALL_SERVERS.starts_with(literal))
    }

    /// Whether the name of a tool fits, whoever has it. This is not what the pattern covers: that is
    /// [`covers`](Self::covers), which stays within one server.
    pub fn fits_name_of_any_server(&self, tool: &ToolName) -> bool {
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
        if let Some(server) = text.strip_prefix(SERVER) {
            let wrong = |_| GlobError(text.chars().take(80).collect());
            return server.parse::<ServerName>().map(|_| Self(text.into())).map_err(wrong);
        }
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
pub fn any_covers<'a>(globs: impl IntoIterator<Item = &'a Glob>, tool: &ToolTraits) -> bool {
    globs.into_iter().any(|glob| glob.covers(tool))
}

/// Whether a text fits a pattern in which `*` stands for any run of characters.
pub fn text_matches(pattern: &str, text: &str) -> bool {
    glob_matches(pattern.as_bytes(), text.as_bytes())
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
