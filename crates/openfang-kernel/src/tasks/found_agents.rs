//! The agents that match a query. What an agent of another server says about its skills is searched too, and never repeated: only
//! its name and what the operator wrote about it are in the answer.

use openfang_types::agent::AgentSummary;
use openfang_types::agent::search::{AgentQuery, AgentText, FoundAgent, ranked};
use openfang_types::capability::Glob;
use openfang_types::config::external_tool_name;
use openfang_types::ids::ToolName;
use openfang_types::principal::{Principal, PrincipalKind};

use crate::tasks::{Inner, Tasks};

impl Tasks {
    /// The agents that this principal may talk to and that match, best first.
    pub(crate) fn found_agents(&self, principal: &Principal, query: &AgentQuery) -> Vec<FoundAgent> {
        self.inner.found_agents(principal, query)
    }
}

impl Inner {
    pub(super) fn found_agents(&self, principal: &Principal, query: &AgentQuery) -> Vec<FoundAgent> {
        let settings = self.settings();
        let visible = settings.agents().values().filter(|agent| agent.is_visible_to(principal));
        // Users are shown of an agent's tools what they may use, and could find out more here.
        let shows_tools = !matches!(principal.standing(), PrincipalKind::User(_));
        let found = visible.filter_map(|agent| {
            let (manifest, is_external) = (&agent.manifest, agent.is_external());
            // The description of its tool has the skills of its card, as they are shown to models.
            let tool = is_external.then(|| external_tool_name(&manifest.name).parse::<ToolName>().ok()).flatten();
            let tool = tool.and_then(|tool| self.pipeline.catalog().get(&tool));
            let skills = tool.as_ref().map(|tool| tool.definition().description.clone());
            let text = AgentText {
                name: manifest.name.as_str(),
                tags: manifest.tags.iter().map(String::as_str).collect(),
                skills: skills.iter().map(String::as_str).collect(),
                tools: if shows_tools {
                    manifest.capabilities.tools.iter().map(Glob::as_str).collect()
                } else {
                    Vec::new()
                },
                description: &manifest.description,
            };
            let matched = query.matched(&text)?;
            let agent =
                AgentSummary { name: manifest.name.clone(), description: manifest.description.clone(), is_external };
            Some(FoundAgent { agent, matched })
        });
        ranked(found.collect())
    }
}
