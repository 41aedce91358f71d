//! The tools there are, by name: those of the house, which stay, and those of MCP servers, which come and go.
//!
//! A tool of the house enters once, with its schema checked. Validators are compiled on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use jsonschema::{PatternOptions, Validator};
use openfang_types::ids::ToolName;
use openfang_types::limits::SCHEMA_PATTERN_MAX_BYTES;
use openfang_types::schema;
use openfang_types::tool::{ToolDefinition, ToolTraits};
use serde_json::Value;
use tokio::sync::watch;

use crate::tools::Tool;

type Tools = HashMap<ToolName, Arc<Registered>>;

/// The tools there are.
#[derive(Default)]
pub struct Catalog {
    own: Tools,
    connected: RwLock<Arc<Tools>>,
    /// Counts how often the connected ones were replaced.
    version: watch::Sender<u64>,
}

/// A tool with what it says about itself.
pub struct Registered {
    /// What the guards need to know of it.
    pub traits: ToolTraits,
    /// What a tool of the house says about itself; the others are asked each time.
    definition: Option<Arc<ToolDefinition>>,
    pub(crate) tool: Box<dyn Tool>,
    /// Boxed: most tools of MCP servers are never called.
    validator: OnceLock<Result<Box<Validator>, String>>,
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
    /// Takes a tool of the house in.
    pub fn register(&mut self, tool: Box<dyn Tool>) -> Result<(), CatalogError> {
        let definition = tool.definition();
        let name = definition.name.clone();
        if let Some(why) = schema::fault_of(&definition.input_schema) {
            return Err(CatalogError::Schema { tool: name, why });
        }
        if self.own.contains_key(&name) {
            return Err(CatalogError::NameTaken(name));
        }
        let registered = Registered { definition: Some(Arc::new(definition)), ..Registered::new(tool) };
        self.own.insert(name, Arc::new(registered));
        Ok(())
    }

    /// From now on these are the tools of MCP servers. A name of the house stays the house's.
    pub fn connect(&self, tools: impl IntoIterator<Item = Arc<Registered>>) {
        let tools = tools.into_iter().map(|tool| (tool.traits.name.clone(), tool));
        let tools: Tools = tools.filter(|(name, _)| !self.own.contains_key(name)).collect();
        *self.connected.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        self.version.send_modify(|version| *version += 1);
    }

    /// The tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<Arc<Registered>> {
        self.own.get(name).cloned().or_else(|| self.connected().get(name).cloned())
    }

    /// All tools, by name.
    pub fn sorted(&self) -> Vec<Arc<Registered>> {
        let connected = self.connected();
        let mut all: Vec<_> = self.own.values().chain(connected.values()).cloned().collect();
        all.sort_by(|a, b| a.traits.name.cmp(&b.traits.name));
        all
    }

    /// How often the tools of MCP servers were replaced.
    pub fn version(&self) -> u64 {
        *self.version.borrow()
    }

    /// Tells when the tools of MCP servers are replaced.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn connected(&self) -> Arc<Tools> {
        Arc::clone(&self.connected.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Registered {
    /// A tool whose definition is asked for when it is needed.
    pub fn new(tool: Box<dyn Tool>) -> Self {
        Self { traits: tool.traits(), definition: None, tool, validator: OnceLock::new() }
    }

    /// What it says about itself.
    pub fn definition(&self) -> Arc<ToolDefinition> {
        self.definition.clone().unwrap_or_else(|| Arc::new(self.tool.definition()))
    }

    /// The compiled schema, or why it cannot be compiled.
    pub(crate) fn validator(&self) -> Result<&Validator, &str> {
        let compiled = self.validator.get_or_init(|| compile(&self.definition().input_schema).map(Box::new));
        compiled.as_ref().map(AsRef::as_ref).map_err(String::as_str)
    }
}

/// The linear-time engine, so that a hostile `pattern` costs a bounded time.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(SCHEMA_PATTERN_MAX_BYTES);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
