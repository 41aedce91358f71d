//! What a grant means today: which tools and agents it names.

use openfang_types::ids::{AgentName, Owner, ToolName};
use openfang_types::limits::GRANT_EXAMPLES;
use openfang_types::principal::{Grants, Principal, PrincipalKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DirectCalls;
use crate::access::users::UserError;
use crate::{Caller, KernelError};

/// What a grant names, with the tools and agents that there are now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantMeaning {
    pub grant: String,
    /// How many tools the user may call directly.
    pub tool_count: usize,
    /// Some of these tools.
    pub tools: Vec<ToolName>,
    /// The agents that the user may talk to.
    pub agents: Vec<AgentName>,
}

impl GrantMeaning {
    /// Whether it names nothing that there is.
    pub const fn is_empty(&self) -> bool {
        self.tool_count == 0 && self.agents.is_empty()
    }
}

impl DirectCalls {
    pub(crate) fn grant_meaning(&self, caller: &Caller, grant: &str) -> Result<GrantMeaning, KernelError> {
        match caller.principal.standing() {
            PrincipalKind::Admin(_) => {}
            PrincipalKind::Local | PrincipalKind::User(_) => {
                return Err(KernelError::NotPermitted("only the admin is told what a grant names"));
            }
        }
        let grants = Grants::parse([grant]).map_err(UserError::Grant)?;
        let holder = Principal::user(Owner::nobody(), grants);
        let tools = self.pipeline.catalog().sorted();
        let granted = |traits: &openfang_types::tool::ToolTraits| holder.may_use(traits, None);
        let mut tools = tools.iter().filter_map(|tool| tool.traits()).filter(granted).map(|traits| traits.name);
        let shown: Vec<ToolName> = tools.by_ref().take(GRANT_EXAMPLES).collect();
        let tool_count = shown.len() + tools.count();
        let settings = self.settings.current();
        let agents = settings.visible_agents(&holder).into_iter().map(|agent| agent.name).collect();
        Ok(GrantMeaning { grant: grant.to_owned(), tool_count, tools: shown, agents })
    }
}
