//! Tools of MCP servers that cannot be called because their definition changed, or because they are new and held. They
//! are not in the catalogue; they are known here so that a refusal can say the truth to the operator and to the audit log.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use openfang_types::ids::ToolName;
use openfang_types::tool::ToolTraits;

/// The tools that wait for the operator, by name.
#[derive(Default)]
pub struct Quarantine {
    tools: RwLock<Arc<HashMap<ToolName, ToolTraits>>>,
}

impl Quarantine {
    /// From now on these are the tools that wait.
    pub fn replace(&self, tools: impl IntoIterator<Item = ToolTraits>) {
        let tools = tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
    }

    /// What the guards need to know of the tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<ToolTraits> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}
