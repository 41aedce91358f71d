//! An index of tools by the words of their names, descriptions and parameters, ranked with BM25.
//!
//! Words are compared without their endings, so `create issues` finds `create_issue`. A word in the name counts three times,
//! one among the parameters half. The index says nothing about who may use a tool: whoever asks it filters the names.

use std::collections::HashMap;

use openfang_types::limits::{TOOL_SEARCH_QUERY_CHARS, TOOL_SEARCH_TEXT_CHARS};
use openfang_types::tool::ToolDefinition;
use serde_json::Value;

const NAME_WEIGHT: f32 = 3.0;
const PARAMETER_WEIGHT: f32 = 0.5;
/// How soon more of the same word counts for less.
const SATURATION: f32 = 1.2;
/// How much long texts are held against their words.
const LENGTH_NORM: f32 = 0.6;
const WORD_CHARS: usize = 40;
/// Words that say nothing about a tool.
const STOP_WORDS: &[&str] = &[
    "a", "all", "am", "an", "and", "are", "as", "at", "be", "by", "do", "for", "from", "have", "i", "if", "in", "into",
    "is", "it", "its", "mcp", "me", "my", "of", "on", "one", "or", "some", "that", "the", "their", "this", "to",
    "tool", "what", "when", "which", "with", "your",
];

/// What is indexed of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolWords {
    pub name: String,
    pub description: String,
    pub parameters: Vec<String>,
}

impl ToolWords {
    /// The words of a definition.
    pub fn of(tool: &ToolDefinition) -> Self {
        Self {
            name: tool.name.to_string(),
            description: tool.description.clone(),
            parameters: parameters_of(&tool.input_schema),
        }
    }

    /// Its words, with their weights.
    fn weights(&self) -> HashMap<String, f32> {
        let mut weights = HashMap::new();
        let mut add = |text: &str, weight: f32| {
            words(text, TOOL_SEARCH_TEXT_CHARS).for_each(|word| *weights.entry(word).or_insert(0.0) += weight);
        };
        add(&self.name, NAME_WEIGHT);
        add(&self.description, 1.0);
        add(&self.parameters.join(" "), PARAMETER_WEIGHT);
        weights
    }
}

/// The names of the parameters in a schema.
pub(crate) fn parameters_of(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

/// Tools by their words.
#[derive(Debug, Default)]
pub struct ToolIndex {
    names: Vec<Box<str>>,
    /// The weight of all words of each tool.
    lengths: Vec<f32>,
    mean_length: f32,
    postings: HashMap<String, Vec<Posting>>,
}

/// A tool in which a word occurs, and how much of it is that word.
#[derive(Debug, Clone, Copy)]
struct Posting {
    place: u32,
    weight: f32,
}

impl ToolIndex {
    /// An index of these tools.
    pub fn of(tools: impl IntoIterator<Item = ToolWords>) -> Self {
        let mut index = Self::default();
        for (place, tool) in (0_u32..).zip(tools) {
            let weights = tool.weights();
            index.lengths.push(weights.values().sum());
            index.names.push(tool.name.into());
            for (word, weight) in weights {
                index.postings.entry(word).or_default().push(Posting { place, weight });
            }
        }
        let count = index.lengths.len().max(1);
        #[expect(clippy::cast_precision_loss, reason = "there are at most some ten thousand tools")]
        let mean = index.lengths.iter().sum::<f32>() / count as f32;
        index.mean_length = mean.max(1.0);
        index
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the tools that have words of the query, best first. `others` are ranked among them as if they were in
    /// the index.
    pub fn ranked<'a>(&'a self, query: &str, others: &'a [ToolWords]) -> Vec<&'a str> {
        let mut terms: Vec<String> = words(query, TOOL_SEARCH_QUERY_CHARS).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut scores = vec![0.0_f32; self.names.len()];
        for term in &terms {
            let postings = self.postings.get(term).map(Vec::as_slice).unwrap_or_default();
            let rarity = self.rarity(postings.len());
            for Posting { place, weight } in postings {
                let place = *place as usize;
                scores[place] += rarity * self.share(*weight, self.lengths[place]);
            }
        }
        let of_other = |tool: &ToolWords| {
            let weights = tool.weights();
            let length = weights.values().sum();
            let score = |term: &String| {
                let weight = weights.get(term).copied().unwrap_or(0.0);
                self.rarity(self.postings.get(term).map_or(0, Vec::len)) * self.share(weight, length)
            };
            terms.iter().map(score).sum::<f32>()
        };
        let ours = self.names.iter().map(AsRef::as_ref).zip(scores);
        let theirs = others.iter().map(|tool| (tool.name.as_str(), of_other(tool)));
        let exact = query.trim();
        let mut found: Vec<(&str, f32)> = ours
            .chain(theirs)
            .map(|(name, score)| (name, if name == exact { f32::MAX } else { score }))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        found.sort_unstable_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(two.0)));
        found.into_iter().map(|(name, _)| name).collect()
    }

    /// How much a word tells that so many tools have.
    #[expect(clippy::cast_precision_loss, reason = "there are at most some ten thousand tools")]
    fn rarity(&self, tools: usize) -> f32 {
        let (all, have) = (self.names.len() as f32, tools as f32);
        ((all - have + 0.5) / (have + 0.5)).max(0.0).ln_1p()
    }

    /// What a word counts in a text of this length.
    fn share(&self, weight: f32, length: f32) -> f32 {
        let norm = 1.0 - LENGTH_NORM + LENGTH_NORM * length / self.mean_length;
        weight * (SATURATION + 1.0) / (weight + SATURATION * norm)
    }
}

/// The words of a text without their endings, as far as they tell something.
fn words(text: &str, most: usize) -> impl Iterator<Item = String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in text.chars().take(most).chain([' ']) {
        let begins = letter.is_uppercase() && was_lower;
        if !letter.is_alphanumeric() || begins {
            found.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if letter.is_alphanumeric() && word.len() < WORD_CHARS {
            word.extend(letter.to_lowercase());
        }
    }
    found
        .into_iter()
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word).to_owned())
}

/// A word without its ending. What is cut wrongly is cut the same on both sides.
fn stem(word: &str) -> &str {
    let without = |ending: &str, least: usize| {
        let rest = word.strip_suffix(ending)?;
        (rest.len() >= least && word.is_ascii()).then_some(rest)
    };
    let singular = || without("s", 3).filter(|rest| !rest.ends_with(['s', 'u', 'i']));
    let stem = without("ing", 4)
        .or_else(|| without("ies", 3))
        .or_else(|| without("ed", 4))
        .or_else(|| without("es", 4).filter(|rest| rest.ends_with(['s', 'x', 'h'])))
        .or_else(singular)
        .unwrap_or(word);
    stem.strip_suffix('e')
        .or_else(|| stem.strip_suffix('y'))
        .filter(|rest| rest.len() >= 3)
        .unwrap_or(stem)
}

#[cfg(test)]
#[path = "tool_index_tests.rs"]
mod tests;
