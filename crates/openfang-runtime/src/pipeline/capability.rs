//! Whether this caller may use this tool. Saying yes takes a [`Permit`], and only this file can make one.

use std::sync::Arc;

use openfang_types::agent::Capabilities;
use openfang_types::capability::any_covers;
use openfang_types::ids::ToolName;
use openfang_types::principal::Standing;
use openfang_types::taint::SinkKind;
use openfang_types::tool::ToolTraits;

use super::ToolError;
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
        Some(_) | None => Err(ToolError::Unknown(name.clone())),
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
