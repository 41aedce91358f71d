//! What a tool itself says about a call, such as the rules of `[exec]`: it is allowed, refused, or for a person to decide.
//!
//! A person who makes the call at this machine has decided already. A call that a tool leaves to a person is approved at
//! this machine.

use openfang_types::agent::ApprovalMode;
use openfang_types::call::Arguments;
use openfang_types::principal::{AdminProof, Door, PrincipalKind};

use super::{Callee, ToolError};
use crate::context::CallContext;
use crate::tools::{Review, Ruling};

/// What a tool said about a call.
#[derive(Default)]
pub(super) struct Reviewed {
    /// What the call depends on besides its arguments.
    pub(super) subject: Option<Box<str>>,
    /// What a person must decide.
    pub(super) question: Option<String>,
}

/// Asks the tool. Most tools have nothing to say.
pub(super) async fn review<C: Callee>(
    cx: &CallContext,
    callee: &C,
    arguments: &Arguments<'_>,
) -> Result<Reviewed, ToolError> {
    let Some(review) = callee.review(cx, arguments) else { return Ok(Reviewed::default()) };
    // What cannot even be looked at fails in the call, in the words of the tool.
    let Ok(Review { ruling, subject }) = review.await else { return Ok(Reviewed::default()) };
    let refused = |why| ToolError::NotAllowed { tool: callee.traits().name.clone(), why };
    let question = match ruling {
        Ruling::Allow => None,
        Ruling::Refuse(why) => return Err(refused(why)),
        Ruling::Ask(_) if is_person_at_this_machine(cx) => None,
        Ruling::Ask(why) if asks_nobody(cx) => return Err(refused(why)),
        Ruling::Ask(why) => Some(why),
    };
    Ok(Reviewed { subject: Some(subject.into()), question })
}

/// Whether the agent that calls asks nobody.
pub(super) fn asks_nobody(cx: &CallContext) -> bool {
    cx.agent.as_ref().is_some_and(|agent| agent.flow.approvals == ApprovalMode::Refuse)
}

fn is_person_at_this_machine(cx: &CallContext) -> bool {
    let is_direct = cx.run.is_none() && cx.agent.is_none() && cx.door == Door::Cli;
    let is_operator = match cx.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => true,
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => false,
    };
    is_direct && is_operator && cx.principal.entry_label().is_none_or(|label| !label.is_foreign())
}
