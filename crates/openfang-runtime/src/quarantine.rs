//! Tools of MCP servers that cannot be called because their definition changed, or because they are new and held. They
//! are not in the catalogue; they are known here so that a refusal can say the truth to the operator and to the audit log.
//! And tools that can be called, and whose words nobody accepted: a run that is offered them carries what they carry.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use openfang_types::ids::ToolName;
use openfang_types::taint::Labels;
use openfang_types::tool::ToolTraits;

/// The tools that wait for the operator, by name.
#[derive(Default)]
pub struct Quarantine {
    tools: RwLock<Arc<HashMap<ToolName, ToolTraits>>>,
    new_words: RwLock<Arc<HashMap<String, Labels>>>,
}

impl Quarantine {
    /// From now on these are the tools that wait, and those whose words nobody accepted.
    pub fn replace(
        &self,
        tools: impl IntoIterator<Item = ToolTraits>,
        new_words: impl IntoIterator<Item = (ToolName, Labels)>,
    ) {
        let new_words = new_words.into_iter().map(|(name, labels)| (name.to_string(), labels)).collect();
        *self.new_words.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new_words);
        let tools = tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
    }

    /// What whoever is offered these tools carries from then on.
    pub fn labels_of_words<'a>(&self, offered: impl Iterator<Item = &'a str>) -> Labels {
        let new_words = Arc::clone(&self.new_words.read().unwrap_or_else(PoisonError::into_inner));
        let mut labels = Labels::none();
        if !new_words.is_empty() {
            offered.filter_map(|name| new_words.get(name)).for_each(|words| labels.join(words));
        }
        labels
    }

    /// What the guards need to know of the tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<ToolTraits> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

#[cfg(test)]
#[path = "quarantine_tests.rs"]
mod tests;
