//! Whether this caller may use this tool. Saying yes takes a [`Permit`], and only this file can make one.

use openfang_types::agent::Capabilities;
use openfang_types::capability::any_covers;
use openfang_types::ids::ToolName;
use openfang_types::principal::Standing;
use openfang_types::taint::SinkKind;
use openfang_types::tool::ToolTraits;

use super::{Callee, Manner, ToolError};
use crate::context::CallContext;

/// The proof that a caller may call something, once. Callees demand it, so forgetting the check does not compile:
///
/// ```compile_fail
/// let permit = openfang_runtime::pipeline::Permit { manner: openfang_runtime::pipeline::Manner::Checked };
/// ```
///
/// It cannot be used twice:
///
/// ```compile_fail
/// # use openfang_runtime::pipeline::Permit;
/// fn twice(permit: Permit) -> (Permit, Permit) {
///     (permit, permit)
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    manner: Manner,
}

impl Permit {
    /// How the call is made.
    pub const fn manner(&self) -> Manner {
        self.manner
    }
}

/// Gives the permit, or says that there is nothing of that name.
pub(super) fn check<'c, C: Callee>(
    cx: &CallContext,
    callee: Option<&'c C>,
    name: &ToolName,
    manner: Manner,
) -> Result<(&'c C, Permit), ToolError> {
    match callee {
        Some(callee) => permit(cx, callee.traits(), manner).map(|permit| (callee, permit)),
        None => Err(ToolError::Unknown(name.clone())),
    }
}

/// The permit for something that may be called.
pub(super) fn permit(cx: &CallContext, what: &ToolTraits, manner: Manner) -> Result<Permit, ToolError> {
    if allows(cx, what) { Ok(Permit { manner }) } else { Err(ToolError::Unknown(what.name.clone())) }
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
