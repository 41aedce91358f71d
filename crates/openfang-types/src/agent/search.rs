//! Search for agents by words. Each word must occur somewhere in what is known of an agent; where the best one occurs decides
//! the order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AgentSummary;
use crate::limits::{AGENT_QUERY_MAX_CHARS, AGENT_QUERY_WORDS};

/// What is searched for: words in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentQuery(Vec<String>);

/// The query cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentQueryError {
    #[error("the query is empty; give a word such as \"translate\"")]
    Empty,
    #[error("the query is too long; give at most {AGENT_QUERY_WORDS} words and {AGENT_QUERY_MAX_CHARS} characters")]
    TooLong,
}

/// Where a word was found, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchedField {
    Name,
    Tag,
    Skill,
    Tool,
    Description,
}

/// What is known of an agent, to be searched.
#[derive(Debug, Clone, Default)]
pub struct AgentText<'a> {
    pub name: &'a str,
    pub tags: Vec<&'a str>,
    /// Names and descriptions of its skills.
    pub skills: Vec<&'a str>,
    /// The tools, or patterns of tools, that it uses.
    pub tools: Vec<&'a str>,
    pub description: &'a str,
}

/// An agent that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAgent {
    #[serde(flatten)]
    pub agent: AgentSummary,
    /// Where the best word was found.
    pub matched: MatchedField,
}

impl AgentQuery {
    /// Reads the words of a query.
    pub fn of(text: &str) -> Result<Self, AgentQueryError> {
        if text.len() > AGENT_QUERY_MAX_CHARS * 4 || text.chars().count() > AGENT_QUERY_MAX_CHARS {
            return Err(AgentQueryError::TooLong);
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        match words.len() {
            0 => Err(AgentQueryError::Empty),
            1..=AGENT_QUERY_WORDS => Ok(Self(words)),
            _ => Err(AgentQueryError::TooLong),
        }
    }

    /// Where the best word occurs; none if one of them occurs nowhere.
    pub fn matched(&self, text: &AgentText<'_>) -> Option<MatchedField> {
        let AgentText { name, tags, skills, tools, description } = text;
        let lower = |texts: &[&str]| texts.iter().map(|text| text.to_lowercase()).collect::<Vec<_>>();
        let fields = [
            (MatchedField::Name, lower(&[name])),
            (MatchedField::Tag, lower(tags)),
            (MatchedField::Skill, lower(skills)),
            (MatchedField::Tool, lower(tools)),
            (MatchedField::Description, lower(&[description])),
        ];
        let place = |word: &String| {
            let has = |texts: &[String]| texts.iter().any(|text| text.contains(word.as_str()));
            fields.iter().find(|(_, texts)| has(texts)).map(|(field, _)| *field)
        };
        let places: Option<Vec<MatchedField>> = self.0.iter().map(place).collect();
        places?.into_iter().min()
    }
}

/// The found agents in order: the best place first, then by name.
pub fn ranked(mut found: Vec<FoundAgent>) -> Vec<FoundAgent> {
    found.sort_by(|a, b| (a.matched, &a.agent.name).cmp(&(b.matched, &b.agent.name)));
    found
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
