//! The approval of a call on which a person must decide. An approval is for one call, and is used up before the call has
//! an effect.
//!
//! A call can bring the approval that was given for it. Every other call is made again by its caller once it is approved: it is
//! recognized by its digests.

use openfang_store::{Approval, ApprovalState, ApprovalStep, Asker, AuditKind, AuditOutcome, AuditRow, AuditSubject};
use openfang_store::{CallDigests, StoreError};
use openfang_types::call::Arguments;
use openfang_types::ids::{ApprovalId, Owner, ToolName};
use openfang_types::limits::{APPROVAL_ARGUMENTS_BYTES, APPROVAL_LASTS};
use openfang_types::principal::{Door, PrincipalKind};
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{Origin, ToolTraits};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::digest::hex;
use super::exact::is_exact;
use super::judge::{Question, QuestionReason};
use super::review::asks_nobody;
use super::{Callee, Pipeline, ToolError};
use crate::context::CallContext;

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalNeeded {
    /// The approval that was asked for.
    pub id: ApprovalId,
    pub tool: ToolName,
    pub sink: SinkKind,
    /// The arguments, as canonical JSON.
    pub arguments: String,
    pub digests: CallDigests,
    /// What led to the question, with its sources.
    pub labels: Labels,
    /// Why a person has to decide, in words.
    pub reason: String,
    /// Whether only somebody at this machine can approve it.
    pub at_machine: bool,
}

impl ApprovalNeeded {
    /// The approval to be asked for.
    fn request(&self, cx: &CallContext, now: jiff::Timestamp) -> Approval {
        Approval {
            id: self.id,
            owner: cx.principal.owner().clone(),
            asker: Some(asker(cx)),
            task: cx.waiting_task,
            agent: cx.agent.as_ref().map(|agent| agent.name.clone()),
            trace: cx.trace,
            door: cx.door,
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
            digests: self.digests.clone(),
            labels: self.labels.clone(),
            reason: self.reason.clone(),
            at_machine: self.at_machine,
            made: now,
            expires: now.checked_add(APPROVAL_LASTS).unwrap_or(now),
            state: ApprovalState::Pending,
            decided: None,
        }
    }
}

/// Who makes the call.
fn asker(cx: &CallContext) -> Asker {
    let (principal, label) = (&cx.principal, cx.principal.entry_label());
    let is_trusted = label.is_none_or(|label| !label.is_foreign());
    let is_known = principal.scope().is_empty() && !matches!(principal.standing(), PrincipalKind::Local);
    let is_person = match cx.door {
        Door::Cli | Door::Rest | Door::Mcp => is_trusted && is_known,
        Door::A2a | Door::Agent => false,
    };
    Asker { scope: principal.begun_as(), shown: principal.shown(), is_person }
}

/// Lets a call pass that was approved, once.
pub(super) async fn check<C: Callee>(
    pipeline: &Pipeline,
    cx: &CallContext,
    (callee, arguments): (&C, &Arguments<'_>),
    (question, subject): (Question, Option<&str>),
) -> Result<(), ToolError> {
    if asks_nobody(cx) {
        return Err(refused(callee.traits(), question));
    }
    let needed = needed(cx, (callee, arguments), (question, subject))?;
    let tool = needed.tool.clone();
    let (owner, now) = (cx.principal.owner(), pipeline.clock.now());
    let unusable = |error: StoreError| match error {
        StoreError::NotFound | StoreError::Conflict => ToolError::NotApproved { tool: tool.clone() },
        cause => ToolError::Unrecorded { tool: tool.clone(), cause },
    };
    let given = match cx.approval {
        Some(id) => Some(id),
        None => {
            let scope = cx.principal.begun_as();
            pipeline
                .approvals
                .find_approved((owner, &scope), &needed.digests, now)
                .await
                .map_err(unusable)?
        }
    };
    if let Some(id) = given {
        pipeline.approvals.use_up(owner, id, &needed.digests, now).await.map_err(unusable)?;
        return Ok(());
    }
    let asked = pipeline.ask_for(cx, &needed).await.map_err(|error| match error {
        StoreError::TooMany { limit, .. } => ToolError::TooManyWaiting { tool: needed.tool.clone(), limit },
        cause => ToolError::Unrecorded { tool: needed.tool.clone(), cause },
    })?;
    Err(ToolError::NeedsApproval(Box::new(ApprovalNeeded { id: asked.id, ..needed })))
}

impl Pipeline {
    /// An approval of an owner, as it stands.
    pub(crate) async fn approval_of(&self, owner: &Owner, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.approvals.get(Some(owner), id, self.clock.now()).await
    }

    /// Asks for the approval of a call. One that waits already is not asked for twice.
    async fn ask_for(&self, cx: &CallContext, needed: &ApprovalNeeded) -> Result<Approval, StoreError> {
        let asked = needed.request(cx, self.clock.now());
        let id = asked.id;
        let asked = self.approvals.request(asked).await?;
        if asked.id == id {
            self.record_ask(&asked);
        }
        Ok(asked)
    }

    fn record_ask(&self, asked: &Approval) {
        let row = AuditRow {
            trace: asked.trace,
            at: asked.made,
            owner: asked.owner.clone(),
            door: asked.door,
            agent: asked.agent.clone(),
            run: None,
            subject: AuditSubject::Approval { id: asked.id, step: ApprovalStep::Ask, tool: asked.tool.clone() },
            outcome: AuditOutcome::Succeeded,
            micros: 0,
        };
        self.audit.record(AuditKind::Deed, row);
    }
}

/// The refusal of a call of an agent that asks nobody.
fn refused(traits: &ToolTraits, question: Question) -> ToolError {
    let label = match question.reason {
        QuestionReason::Policy(reason) => reason.label(),
        QuestionReason::Tool(why) => return ToolError::NotAllowed { tool: traits.name.clone(), why },
    };
    ToolError::Tainted {
        tool: traits.name.clone(),
        sink: question.sink,
        label,
        sources: question.labels.sources(label).map(ToString::to_string).unwrap_or_default(),
    }
}

fn needed<C: Callee>(
    cx: &CallContext,
    (callee, arguments): (&C, &Arguments<'_>),
    (question, subject): (Question, Option<&str>),
) -> Result<ApprovalNeeded, ToolError> {
    let traits = callee.traits();
    let tool = traits.name.clone();
    let too_long = || ToolError::CannotBeShown { tool: tool.clone(), limit: APPROVAL_ARGUMENTS_BYTES };
    let value = arguments.value().map_err(|_| too_long())?;
    let canonical = canonical(value).to_string();
    if canonical.len() > APPROVAL_ARGUMENTS_BYTES {
        return Err(too_long());
    }
    if !is_exact(arguments) {
        return Err(ToolError::CannotBeShownExactly { tool });
    }
    let Question { reason, sink, labels } = question;
    let definition = definition(cx, callee, subject);
    let digests = CallDigests { call: digest(&[tool.as_str(), &canonical]), definition };
    let (reason, at_machine) = match reason {
        QuestionReason::Policy(reason) => {
            let sources = labels.sources(reason.label()).map(ToString::to_string).unwrap_or_default();
            let words = format!("{}: the context carries {} (from {sources})", reason.words(), reason.label());
            (words, reason.needs_this_machine())
        }
        QuestionReason::Tool(why) => (why, true),
    };
    Ok(ApprovalNeeded {
        id: ApprovalId::from_uuid(Uuid::new_v4()),
        sink,
        arguments: canonical,
        digests,
        reason,
        labels,
        at_machine: at_machine || sink == SinkKind::Executes,
        tool,
    })
}

/// The same value, with the members of objects in the order of their names.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            sorted.into_iter().map(|(name, member)| (name.clone(), canonical(member))).collect()
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Where the tool comes from, what it says about itself, and what it says that the call depends on.
fn definition<C: Callee>(cx: &CallContext, callee: &C, subject: Option<&str>) -> String {
    let traits = callee.traits();
    let says = match callee.checked_tool() {
        Some(tool) => serde_json::to_string(&*tool.definition()).unwrap_or_default(),
        None => format!("{traits:?}"),
    };
    match subject {
        Some(subject) => digest(&[&place(cx, traits), &says, subject]),
        None => digest(&[&place(cx, traits), &says]),
    }
}

/// The server or agent as the operator configured it. Values of secrets are not part of it.
fn place(cx: &CallContext, traits: &ToolTraits) -> String {
    match &traits.origin {
        Origin::Builtin | Origin::Skill(_) => String::new(),
        Origin::McpServer(name) => {
            let entry = cx.config.mcp_servers.iter().find(|entry| entry.name == *name);
            entry.map_or_else(String::new, |entry| {
                json!([entry.name, entry.transport, entry.cwd, entry.sandbox, entry.trusted, entry.data]).to_string()
            })
        }
        Origin::A2aAgent(name) => {
            let entry = cx.config.a2a.external_agents.iter().find(|entry| entry.name == *name);
            entry.map_or_else(String::new, |entry| {
                json!([entry.name, entry.url, entry.endpoint, entry.trusted, entry.data]).to_string()
            })
        }
    }
}

fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part.as_bytes());
    }
    hex(&digest.finalize())
}

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;
