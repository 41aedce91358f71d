//! The tools there are, by name. A tool enters once, with its schema checked and its validator compiled on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use openfang_types::ids::ToolName;
use openfang_types::limits::SCHEMA_PATTERN_MAX_BYTES;
use openfang_types::schema;
use openfang_types::tool::ToolDefinition;
use serde_json::Value;

use crate::tools::Tool;

/// The tools there are.
#[derive(Default)]
pub struct Catalog {
    by_name: HashMap<ToolName, Arc<Registered>>,
}

/// A tool with what it says about itself.
pub struct Registered {
    /// What it says about itself.
    pub definition: ToolDefinition,
    pub(crate) tool: Box<dyn Tool>,
    validator: OnceLock<Result<Validator, String>>,
}

/// Why a tool did not enter the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The name is taken.
    #[error("there is a tool {0} already")]
    NameTaken(ToolName),
    /// The schema is beyond what we are willing to compile or check.
    #[error("the tool {tool} is refused: {why}")]
    Schema {
        /// Which tool.
        tool: ToolName,
        /// Why.
        why: &'static str,
    },
}

impl Catalog {
    /// Takes a tool in.
    pub fn register(&mut self, tool: Box<dyn Tool>) -> Result<(), CatalogError> {
        let definition = tool.definition();
        let name = definition.name.clone();
        if let Some(why) = schema::fault_of(&definition.input_schema) {
            return Err(CatalogError::Schema { tool: name, why });
        }
        if self.by_name.contains_key(&name) {
            return Err(CatalogError::NameTaken(name));
        }
        self.by_name
            .insert(name, Arc::new(Registered { definition, tool, validator: OnceLock::new() }));
        Ok(())
    }

    /// The tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<&Arc<Registered>> {
        self.by_name.get(name)
    }

    /// All tools, by name.
    pub fn sorted(&self) -> Vec<&Arc<Registered>> {
        let mut all: Vec<_> = self.by_name.values().collect();
        all.sort_by(|a, b| a.definition.name.cmp(&b.definition.name));
        all
    }
}

impl Registered {
    /// The compiled schema, or why it cannot be compiled.
    pub(crate) fn validator(&self) -> Result<&Validator, &str> {
        let compiled = self.validator.get_or_init(|| compile(&self.definition.input_schema));
        compiled.as_ref().map_err(String::as_str)
    }
}

/// The linear-time engine, so that a hostile `pattern` costs a bounded time.
fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(SCHEMA_PATTERN_MAX_BYTES);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
