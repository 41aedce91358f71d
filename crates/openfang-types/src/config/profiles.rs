//! `[profiles.NAME]`: selections of servers, tools and agents. A profile narrows what a caller may use, and never grants.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::capability::{Glob, any_covers};
use crate::ids::{AgentName, ProfileName, ServerName};
use crate::skills::SkillPattern;
use crate::tool::{Origin, ToolTraits};

/// What a client sees that chooses this profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// The MCP servers. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ServerName>>,
    /// The tools, by patterns of their listed names. If absent: all that the caller may use. `"search"`: all of them too, but
    /// a client over MCP is shown two, with which it finds and calls the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ProfileTools>,
    /// The agents, external ones included. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<AgentName>>,
    /// The skills, by patterns of their names. If absent: all that the caller may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillPattern>>,
}

/// The tools of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ProfileTools {
    Patterns(Vec<Glob>),
    Search(SearchWord),
}

/// The word in the place of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchWord {
    Search,
}

impl<'de> Deserialize<'de> for ProfileTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProfileToolsVisitor)
    }
}

struct ProfileToolsVisitor;

impl<'de> Visitor<'de> for ProfileToolsVisitor {
    type Value = ProfileTools;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of patterns, or \"search\"")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<ProfileTools, E> {
        match word {
            "search" => Ok(ProfileTools::Search(SearchWord::Search)),
            _ => Err(E::invalid_value(Unexpected::Other("another word"), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, patterns: A) -> Result<ProfileTools, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(patterns)).map(ProfileTools::Patterns)
    }
}

/// A profile that applies to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProfile {
    pub name: ProfileName,
    pub profile: Profile,
}

impl Profile {
    /// Nothing at all: what is left where a profile is gone that narrowed a caller.
    pub fn nothing() -> Self {
        Self {
            servers: Some(Vec::new()),
            tools: Some(ProfileTools::Patterns(Vec::new())),
            agents: Some(Vec::new()),
            skills: Some(Vec::new()),
        }
    }

    /// The patterns of tools, if there are any.
    pub const fn patterns(&self) -> Option<&Vec<Glob>> {
        match &self.tools {
            Some(ProfileTools::Patterns(patterns)) => Some(patterns),
            Some(ProfileTools::Search(_)) | None => None,
        }
    }

    /// Whether clients search for tools.
    pub const fn searches_tools(&self) -> bool {
        matches!(self.tools, Some(ProfileTools::Search(_)))
    }

    /// Whether the agent is in the profile.
    pub fn has_agent(&self, agent: &AgentName) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.contains(agent))
    }

    /// Whether the tool is in the profile. The tool of an external agent is there with its agent.
    pub fn has_tool(&self, tool: &ToolTraits) -> bool {
        let is_covered = || self.patterns().is_none_or(|patterns| any_covers(patterns, tool));
        match (&tool.origin, &self.agents) {
            (Origin::A2aAgent(agent), Some(agents)) => agents.contains(agent),
            (Origin::McpServer(server), _) => {
                self.servers.as_ref().is_none_or(|servers| servers.contains(server)) && is_covered()
            }
            (Origin::Skill(skill), _) => self
                .skills
                .as_ref()
                .is_none_or(|patterns| patterns.iter().any(|pattern| pattern.covers(skill))),
            (Origin::A2aAgent(_), None) | (Origin::Builtin, _) => is_covered(),
        }
    }
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
