//! Two tools in the place of many: `tool_search` finds tools by words, and `tool_call` calls one that was found.
//!
//! Neither is in the catalogue. A search shows what a list would show and calls nothing. A call is unwrapped before it
//! reaches the pipeline, so all guards see the real tool. Models of agents are offered the two when there are too many
//! tools for a request, and MCP clients when they ask for it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::background;
use openfang_types::limits::{TOOL_SEARCH_CHARS, TOOL_SEARCH_RESULTS, TOOL_SEARCH_RESULTS_MAX};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::tool_index::{ToolIndex, ToolWords, parameters_of};

/// The name of the tool that finds tools.
pub const TOOL_SEARCH: &str = "tool_search";
/// Calls a tool by its name.
pub const TOOL_CALL: &str = "tool_call";

pub const SEARCH_DESCRIPTION: &str = "Finds tools by words: what the tool does, or its name. Most tools are not listed; search \
    for them. The answer shows each tool with its parameters. Call one with tool_call.";
pub const CALL_DESCRIPTION: &str = "Calls a tool that tool_search has found, with arguments that fit its parameters.";

/// The parameters of `tool_search`.
pub fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "A few words, such as: create issue" },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": TOOL_SEARCH_RESULTS_MAX, "default": TOOL_SEARCH_RESULTS,
                "description": "How many tools to show.",
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

/// The parameters of `tool_call`.
pub fn call_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of the tool." },
            "arguments": { "type": "object", "description": "The arguments of the tool.", "additionalProperties": true },
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}

/// What is searched for.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolQuery {
    pub query: String,
    #[serde(default)]
    limit: Option<u64>,
}

impl ToolQuery {
    /// Reads the arguments of a search. The error is for the caller to read.
    pub fn read(arguments: &str) -> Result<Self, String> {
        let query: Self =
            serde_json::from_str(arguments).map_err(|error| format!("give query, and if you want limit ({error})"))?;
        if query.query.trim().is_empty() {
            return Err("query is empty; give a few words of what the tool does".to_owned());
        }
        Ok(query)
    }

    /// How many tools to show.
    pub fn limit(&self) -> usize {
        let wanted = self
            .limit
            .map_or(TOOL_SEARCH_RESULTS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        wanted.clamp(1, TOOL_SEARCH_RESULTS_MAX)
    }
}

/// A call within a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrappedCall<'a> {
    /// The tool to call.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its arguments, an object; none if they are left out.
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

impl<'a> WrappedCall<'a> {
    /// Reads the arguments of `tool_call`. The error is for the caller to read.
    pub fn read(arguments: &'a str) -> Result<Self, String> {
        let call: Self = serde_json::from_str(arguments)
            .map_err(|error| format!("give name, and the arguments as an object ({error})"))?;
        if matches!(&*call.name, TOOL_CALL | TOOL_SEARCH) {
            return Err(format!("{} cannot be called with {TOOL_CALL}; call it directly", call.name));
        }
        if call.arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            return Err("arguments is not an object; write them as {\"parameter\": value}".to_owned());
        }
        Ok(call)
    }
}

/// A tool that a search has found.
pub struct FoundTool {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// What a search says: each tool on a line of its own, with its parameters, as far as they fit.
pub fn report(found: &[FoundTool]) -> String {
    if found.is_empty() {
        return "no tool has these words; search with other words of what it should do".to_owned();
    }
    let mut said = String::new();
    for (number, tool) in found.iter().enumerate() {
        let whole = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
        let line = whole.to_string();
        let left = TOOL_SEARCH_CHARS.saturating_sub(said.len());
        if line.len() <= left {
            said.push_str(&line);
        } else {
            let description: String = tool.description.chars().take(200).collect();
            let names: Vec<String> = parameters_of(&tool.schema).into_iter().take(50).collect();
            let short = json!({ "name": tool.name, "description": description, "parameters_named": names });
            let line = short.to_string();
            if line.len() > left && number > 0 {
                let _ = write!(said, "{} more are not shown; use other words or a lower limit", found.len() - number);
                break;
            }
            said.push_str(&line);
        }
        said.push('\n');
    }
    said
}

/// The index of the tools of the catalogue, made again when those change. One is held, whatever happens.
#[derive(Default)]
pub(crate) struct CachedToolIndex {
    made: Mutex<Option<(u64, Arc<ToolIndex>)>>,
    /// Held while an index is made, so that only one is.
    making: tokio::sync::Mutex<()>,
}

impl CachedToolIndex {
    /// The index of these tools. It is made on a thread of its own: of ten thousand tools it takes a while.
    pub(crate) async fn get(&self, catalog: &Catalog) -> Arc<ToolIndex> {
        if let Some(known) = self.known(catalog.version()) {
            return known;
        }
        let _making = self.making.lock().await;
        // Read before the tools: an index that is newer than its version is made once more, an older one never used.
        let version = catalog.version();
        if let Some(known) = self.known(version) {
            return known;
        }
        let entries = catalog.entries();
        let make = move || {
            background::run(|| {
                ToolIndex::of(entries.iter().filter_map(|tool| Some(ToolWords::of(&tool.definition()?))))
            })
        };
        let Ok(index) = tokio::task::spawn_blocking(make).await else { return Arc::default() };
        let index = Arc::new(index);
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, Arc::clone(&index)));
        index
    }

    fn known(&self, version: u64) -> Option<Arc<ToolIndex>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.as_ref().filter(|(of, _)| *of == version).map(|(_, index)| Arc::clone(index))
    }
}

#[cfg(test)]
#[path = "tool_search_tests.rs"]
mod tests;
