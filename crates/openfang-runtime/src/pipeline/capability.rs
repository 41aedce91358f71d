//! Whether this caller may use this tool. Saying yes takes a [`Permit`], and only this file can make one.

use std::sync::Arc;

use openfang_types::agent::Capabilities;
use openfang_types::capability::any_covers;
use openfang_types::ids::ToolName;
use openfang_types::principal::Standing;
use openfang_types::taint::SinkKind;
use openfang_types::tool::ToolTraits;

use super::{Hidden, Pipeline, ToolError, audit};
use crate::catalog::{Catalog, Registered};
use crate::context::CallContext;

/// The proof that a caller may use a tool, once. Tools demand it, so forgetting the check does not compile:
///
/// ```compile_fail
/// let permit = openfang_runtime::pipeline::Permit { tool: todo!() };
/// ```
pub struct Permit {
    tool: Arc<Registered>,
}

impl Permit {
    /// What may be called.
    pub fn traits(&self) -> &ToolTraits {
        &self.tool.traits
    }

    pub(super) const fn tool(&self) -> &Arc<Registered> {
        &self.tool
    }
}

/// Gives the permit, or says there is no such tool.
pub(super) fn check(catalog: &Catalog, cx: &CallContext, name: &ToolName) -> Result<Permit, ToolError> {
    match catalog.get(name) {
        Some(tool) if allows(cx, &tool.traits) => Ok(Permit { tool }),
        Some(tool) => Err(refusal(cx, &tool.traits, Hidden::NotGranted)),
        None => match catalog.quarantine().get(name) {
            Some(traits) if allows(cx, &traits) => Err(refusal(cx, &traits, Hidden::Quarantined)),
            Some(traits) => Err(refusal(cx, &traits, Hidden::NotGranted)),
            None => Err(ToolError::Unknown { tool: name.clone(), hidden: Hidden::Absent }),
        },
    }
}

/// Refuses a tool that there is. The operator is told why; for anybody else there is no such tool.
pub(super) fn refusal(cx: &CallContext, tool: &ToolTraits, hidden: Hidden) -> ToolError {
    let name = tool.name.clone();
    let agent = cx.agent.as_ref().map(|agent| agent.name.clone());
    let is_operator = matches!(cx.principal.standing(), Standing::Admin(_));
    match (hidden, agent, &tool.server) {
        (Hidden::NotGranted, Some(agent), _) if is_operator => ToolError::NotGranted { tool: name, agent },
        (Hidden::Quarantined, agent, Some(server)) if is_operator => {
            ToolError::Quarantined { tool: name, server: server.clone(), agent }
        }
        (Hidden::Absent | Hidden::NotGranted | Hidden::Quarantined, _, _) => ToolError::Unknown { tool: name, hidden },
    }
}

impl Pipeline {
    /// Why this caller cannot use a tool; none if the caller can. Nothing is recorded.
    pub fn why_not(&self, cx: &CallContext, name: &ToolName) -> Option<ToolError> {
        check(&self.catalog, cx, name).err()
    }

    /// Refuses a call of a tool that this caller cannot use, on the record.
    pub fn refuse(&self, cx: &CallContext, name: &ToolName) -> ToolError {
        let absent = || ToolError::Unknown { tool: name.clone(), hidden: Hidden::Absent };
        let error = self.why_not(cx, name).unwrap_or_else(absent);
        audit::open(self, cx, name).close(Err(&error));
        error
    }
}

/// The authority rule: through an agent, its patterns and the principal's; directly, the principal's alone.
/// Whoever is merely `local` gets no tool that executes: any process on the machine could be it.
pub fn allows(cx: &CallContext, tool: &ToolTraits) -> bool {
    let agent_allows = cx.agent.as_ref().is_none_or(|agent| agent_covers(&agent.capabilities, tool));
    let through = cx.agent.as_ref().map(|agent| &agent.name);
    let unproved = matches!(cx.principal.standing(), Standing::Local) && tool.sink == SinkKind::Executes;
    agent_allows && cx.principal.may_use(tool, through) && !unproved
}

/// Whether an agent may use a tool: its patterns cover it, and its list of servers, if it has one, names the server.
pub fn agent_covers(capabilities: &Capabilities, tool: &ToolTraits) -> bool {
    let reaches_server = match (&tool.server, &capabilities.mcp_servers) {
        (Some(server), Some(servers)) => servers.contains(server),
        (None, _) | (Some(_), None) => true,
    };
    reaches_server && any_covers(&capabilities.tools, tool)
}
