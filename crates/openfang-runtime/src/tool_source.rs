//! Where tools come from: each kind of source is an implementation of [`ToolSource`].
//!
//! A source is a list as it stands at a time. What comes and goes is replaced by another source
//! ([`Catalog::replace`](crate::catalog::Catalog::replace)), which counts the versions; a source itself never changes.

use std::sync::Arc;

use openfang_types::ids::ToolName;
use openfang_types::names::Names;
use openfang_types::schema;
use openfang_types::tool::{Origin, ToolDefinition, ToolTraits};

use crate::catalog::{CatalogError, Registered};
use crate::tools::Tool;

/// Tools of one origin, each at a place. There may be ten thousand and few are ever called, so a source makes a tool when
/// it is first called, and says what it can without making it.
pub trait ToolSource: Send + Sync {
    /// Where its tools come from.
    fn origin(&self) -> &Origin;

    /// What its tools are called, by their places; a place without a name has no tool.
    fn names(&self) -> &Names;

    /// The tool at a place.
    fn get(&self, place: usize) -> Option<Arc<Registered>>;

    /// What the guards need to know of the tool at a place.
    fn traits(&self, place: usize) -> Option<ToolTraits> {
        self.get(place).map(|tool| tool.traits.clone())
    }

    /// What the tool at a place says about itself.
    fn definition(&self, place: usize) -> Option<ToolDefinition> {
        self.get(place).map(|tool| Arc::unwrap_or_clone(tool.definition()))
    }
}

/// The tools that are part of this program.
pub struct BuiltinTools {
    names: Names,
    tools: Vec<Arc<Registered>>,
}

impl BuiltinTools {
    /// Takes tools in, each with its schema checked.
    pub fn new(tools: impl IntoIterator<Item = Box<dyn Tool>>) -> Result<Self, CatalogError> {
        let mut taken: Vec<Arc<Registered>> = Vec::new();
        for tool in tools {
            let definition = tool.definition();
            let name = definition.name.clone();
            if let Some(why) = schema::fault_of(&definition.input_schema) {
                return Err(CatalogError::Schema { tool: name, why });
            }
            if taken.iter().any(|known| known.traits.name == name) {
                return Err(CatalogError::NameTaken(name));
            }
            taken.push(Arc::new(Registered::of_our_own(tool, definition)));
        }
        let names = taken.iter().map(|tool| ToolName::as_str(&tool.traits.name)).collect();
        Ok(Self { names, tools: taken })
    }
}

impl ToolSource for BuiltinTools {
    fn origin(&self) -> &Origin {
        &Origin::Builtin
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn get(&self, place: usize) -> Option<Arc<Registered>> {
        self.tools.get(place).cloned()
    }
}

#[cfg(test)]
#[path = "tool_source_tests.rs"]
mod tests;
