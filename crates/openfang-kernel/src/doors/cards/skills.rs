//! The skills that an agent with a model can activate, as skills of its card. A message with one data part `{skill, input}`
//! activates one. Strangers are not shown them.

use std::sync::Arc;

use openfang_a2a::card::AgentSkill;
use openfang_runtime::skills::ReadySkill;
use openfang_types::ids::TraceId;
use openfang_types::principal::{Door, Principal};

use crate::Caller;
use crate::doors::Doors;
use crate::settings::agents::Agent;

impl Doors {
    pub(super) fn activated_skills(&self, who: Option<&Principal>, agent: &Agent) -> Vec<AgentSkill> {
        let Some(principal) = who.filter(|_| agent.manifest.model.provider.has_model()) else { return Vec::new() };
        let caller = Caller {
            principal: Arc::new(principal.clone()),
            door: Door::A2a,
            trace: TraceId::from_uuid(self.inner.ids.random()),
            hops: 0,
            room: None,
        };
        let cx = self.inner.tasks.agent_context(&caller, agent);
        self.inner.pipeline.catalog().skills().usable(&cx).map(|skill| described(skill)).collect()
    }
}

fn described(skill: &ReadySkill) -> AgentSkill {
    let tags = if skill.tags.is_empty() { vec!["skill".to_owned()] } else { skill.tags.clone() };
    AgentSkill {
        id: format!("skill:{}", skill.name),
        name: skill.name.to_string(),
        description: skill.description.clone(),
        tags,
        examples: skill.examples.clone(),
    }
}
