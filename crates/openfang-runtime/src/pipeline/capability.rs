//! Whether this caller may use this tool. Saying yes takes a [`Permit`], and only this file can make one.

use openfang_types::agent::Capabilities;
use openfang_types::capability::any_covers;
use openfang_types::ids::ToolName;
use openfang_types::principal::PrincipalKind;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{Origin, ToolTraits};
use openfang_types::trace::TraceParent;

use super::{Callee, Hidden, Manner, Pipeline, ToolError, audit};
use crate::catalog::Catalog;
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
///
/// A tool is called with one, and not without:
///
/// ```
/// # use openfang_runtime::{context::CallContext, pipeline::Permit, tools::Tool};
/// # use openfang_types::call::Arguments;
/// fn call(tool: &dyn Tool, cx: &CallContext, permit: Permit) {
///     drop(tool.call(cx, Arguments::default(), permit));
/// }
/// ```
/// ```compile_fail
/// # use openfang_runtime::{context::CallContext, pipeline::Permit, tools::Tool};
/// # use openfang_types::call::Arguments;
/// fn call(tool: &dyn Tool, cx: &CallContext) {
///     drop(tool.call(cx, Arguments::default()));
/// }
/// ```
///
/// So is a prompt of a server:
///
/// ```
/// # use openfang_runtime::{context::CallContext, pipeline::{Callee, Permit}, server_call::ServerPrompt};
/// # use openfang_types::call::Arguments;
/// fn fill_in(prompt: &ServerPrompt<'_>, cx: &CallContext, permit: Permit) {
///     drop(prompt.call(cx, Arguments::default(), permit));
/// }
/// ```
/// ```compile_fail
/// # use openfang_runtime::{context::CallContext, pipeline::{Callee, Permit}, server_call::ServerPrompt};
/// # use openfang_types::call::Arguments;
/// fn fill_in(prompt: &ServerPrompt<'_>, cx: &CallContext) {
///     drop(prompt.call(cx, Arguments::default()));
/// }
/// ```
///
/// So is a resource:
///
/// ```
/// # use openfang_runtime::{context::CallContext, pipeline::{Callee, Permit}, server_call::ServerResource};
/// # use openfang_types::call::Arguments;
/// fn read(resource: &ServerResource<'_>, cx: &CallContext, permit: Permit) {
///     drop(resource.call(cx, Arguments::default(), permit));
/// }
/// ```
/// ```compile_fail
/// # use openfang_runtime::{context::CallContext, pipeline::{Callee, Permit}, server_call::ServerResource};
/// # use openfang_types::call::Arguments;
/// fn read(resource: &ServerResource<'_>, cx: &CallContext) {
///     drop(resource.call(cx, Arguments::default()));
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    manner: Manner,
    /// What requests to other servers name as their parent, if the call leaves this one.
    parent: Option<TraceParent>,
    /// What the tool said that the call depends on.
    subject: Option<Box<str>>,
    /// Whether a person approved the call: that is for the definition that the tool had then.
    is_approved: bool,
}

impl Permit {
    /// How the call is made.
    pub const fn manner(&self) -> Manner {
        self.manner
    }

    /// What requests to other servers name as their parent.
    pub(crate) const fn parent(&self) -> Option<TraceParent> {
        self.parent
    }

    /// What the tool said that the call depends on, when it was asked about its rules.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Whether a person approved the call.
    pub(crate) const fn is_approved(&self) -> bool {
        self.is_approved
    }

    /// The same permit, for a call that a person may have approved.
    pub(super) fn approved(self, is_approved: bool) -> Self {
        Self { is_approved, ..self }
    }

    /// The same permit, for a call that the tool has looked at.
    pub(super) fn reviewed(self, subject: Option<Box<str>>) -> Self {
        Self { subject, ..self }
    }

    /// The same permit, for a call that leaves this server so.
    pub(super) fn leaving(self, parent: Option<TraceParent>) -> Self {
        Self { parent, ..self }
    }
}

/// Gives the permit, or says that there is nothing of that name.
pub(super) fn check<'c, C: Callee>(
    catalog: &Catalog,
    cx: &CallContext,
    (name, callee): (&ToolName, Option<&'c C>),
    manner: Manner,
) -> Result<(&'c C, Permit), ToolError> {
    match callee {
        Some(callee) => permit(cx, callee.traits(), manner).map(|permit| (callee, permit)),
        None => Err(missing(catalog, cx, name)),
    }
}

/// The permit for something that may be called.
pub(super) fn permit(cx: &CallContext, what: &ToolTraits, manner: Manner) -> Result<Permit, ToolError> {
    if allows(cx, what) {
        Ok(Permit { manner, parent: None, subject: None, is_approved: false })
    } else {
        Err(refusal(cx, what, Hidden::NotGranted))
    }
}

/// Refuses a tool that is not in the catalogue: there is none, or it waits for the operator.
fn missing(catalog: &Catalog, cx: &CallContext, name: &ToolName) -> ToolError {
    match catalog.quarantine().get(name) {
        Some(traits) if allows(cx, &traits) => refusal(cx, &traits, Hidden::Quarantined),
        Some(traits) => refusal(cx, &traits, Hidden::NotGranted),
        None => unknown(cx, name.clone(), Hidden::Absent),
    }
}

fn unknown(cx: &CallContext, tool: ToolName, hidden: Hidden) -> ToolError {
    ToolError::Unknown { tool, profiles: cx.principal.scope(), hidden }
}

/// Refuses a tool that there is. The operator is told why; for anybody else there is no such tool.
pub(super) fn refusal(cx: &CallContext, tool: &ToolTraits, hidden: Hidden) -> ToolError {
    let name = tool.name.clone();
    let agent = cx.agent.as_ref().map(|agent| agent.name.clone());
    let is_operator = matches!(cx.principal.standing(), PrincipalKind::Admin(_));
    match (hidden, agent, tool.origin.server()) {
        (Hidden::NotGranted, Some(agent), _) if is_operator => ToolError::NotGranted { tool: name, agent },
        (Hidden::Quarantined, agent, Some(server)) if is_operator => {
            ToolError::Quarantined { tool: name, server: server.clone(), agent }
        }
        (Hidden::Absent | Hidden::NotGranted | Hidden::Quarantined, _, _) => unknown(cx, name, hidden),
    }
}

impl Pipeline {
    /// Why this caller cannot use a tool; none if the caller can. Nothing is recorded.
    pub fn why_not(&self, cx: &CallContext, name: &ToolName) -> Option<ToolError> {
        match self.catalog.get(name) {
            Some(tool) => permit(cx, &tool.traits, Manner::Checked).err(),
            None => Some(missing(&self.catalog, cx, name)),
        }
    }

    /// Refuses a call of a tool that this caller cannot use, on the record.
    pub fn refuse(&self, cx: &CallContext, name: &ToolName) -> ToolError {
        let absent = || unknown(cx, name.clone(), Hidden::Absent);
        let error = self.why_not(cx, name).unwrap_or_else(absent);
        audit::open(self, cx, name, None).close(Err(&error));
        error
    }
}

/// The authority rule: through an agent, its patterns and the principal's; directly, the principal's alone.
/// Whoever is merely `local` gets no tool that executes: any process on the machine could be it.
pub fn allows(cx: &CallContext, tool: &ToolTraits) -> bool {
    let agent_allows = cx.agent.as_ref().is_none_or(|agent| agent_covers(&agent.capabilities, tool));
    let through = cx.agent.as_ref().map(|agent| &agent.name);
    let unproved = matches!(cx.principal.standing(), PrincipalKind::Local) && tool.sink == SinkKind::Executes;
    let is_granted = || cx.granted.as_ref() == Some(&tool.name);
    agent_allows && (cx.principal.may_use(tool, through) || is_granted()) && !unproved
}

/// Whether an agent may use a tool: its patterns cover it, and its list of servers, if it has one, names the server.
pub fn agent_covers(capabilities: &Capabilities, tool: &ToolTraits) -> bool {
    let reaches_origin = match (&tool.origin, &capabilities.mcp_servers) {
        (Origin::McpServer(server), Some(servers)) => servers.contains(server),
        (Origin::Skill(skill), _) => return capabilities.skills.iter().any(|pattern| pattern.covers(skill)),
        (Origin::McpServer(_), None) | (Origin::Builtin | Origin::A2aAgent(_), _) => true,
    };
    reaches_origin && any_covers(&capabilities.tools, tool)
}
