//! Calls that wait for a person: who may see them, and who may decide on them.
//!
//! A person decides, and only on calls of their own; the admin on those of everybody. Whoever is narrowed knows of the calls
//! that were asked so, and approves what it may use itself. A call that executes is approved at
//! this machine only: on the command line, which proves itself with the token of this start, or in this process.

use std::sync::Arc;

use openfang_runtime::pipeline::Pipeline;
use openfang_store::{
    Approval, ApprovalState, ApprovalStep, ApprovalStore, AuditKind, AuditOutcome, AuditRow, AuditStore, AuditSubject,
    Decision, DecisionWord, StoreError,
};
use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::clock::Clock;
use openfang_types::ids::{ApprovalId, Owner, ToolName};
use openfang_types::principal::{AdminProof, Door, PrincipalKind};
use serde_json::Value;

use crate::{Caller, KernelError};

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// There is none, or it is somebody else's: the two look the same.
    #[error("there is no approval {0}")]
    Unknown(ApprovalId),
    /// It does not wait for a decision.
    #[error("the approval {id} is {state} already; make the call again to be asked again")]
    NotWaiting { id: ApprovalId, state: ApprovalState },
    /// Another call was shown.
    #[error("the digest is not that of the call of approval {0}; look at the call again, and decide then")]
    OtherCall(ApprovalId),
    /// Only a person decides.
    #[error(
        "a person has to decide; use `openfang approval` on the command line, or a key that was not made with \
         `--trust untrusted-agent`"
    )]
    NotAPerson,
    /// The tool is not there for whoever decides.
    #[error("you may not use {0} yourself, so you cannot approve a call of it; you can deny it")]
    NoRight(ToolName),
    /// The call executes something.
    #[error(
        "this call executes, so it is approved at the machine of the server only, with `openfang approval approve {0}`"
    )]
    AtThisMachine(ApprovalId),
}

/// Calls that wait for a person. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Approvals {
    store: Arc<dyn ApprovalStore>,
    audit: Arc<dyn AuditStore>,
    pipeline: Arc<Pipeline>,
    clock: Arc<dyn Clock>,
}

impl Approvals {
    pub(crate) fn new(
        (store, audit): (Arc<dyn ApprovalStore>, Arc<dyn AuditStore>),
        pipeline: Arc<Pipeline>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, audit, pipeline, clock }
    }

    /// The approvals that the caller may see, newest first.
    pub(crate) async fn list(&self, caller: &Caller) -> Result<Vec<ApprovalView>, KernelError> {
        let found = self.store.list(whose(caller), self.clock.now()).await?;
        let narrowing = caller.principal.begun_as();
        Ok(found.iter().filter(|known| known.is_known_to(&narrowing)).map(view).collect())
    }

    /// One approval that the caller may see.
    pub(crate) async fn get(&self, caller: &Caller, id: ApprovalId) -> Result<Approval, KernelError> {
        let found = self.store.get(whose(caller), id, self.clock.now()).await?;
        let narrowing = caller.principal.begun_as();
        let found = found.filter(|known| known.is_known_to(&narrowing));
        Ok(found.ok_or(ApprovalError::Unknown(id))?)
    }

    /// Decides on a call that waits. The digest says which call the person was shown.
    pub(crate) async fn decide(
        &self,
        caller: &Caller,
        id: ApprovalId,
        (kind, digest): (DecisionKind, &str),
    ) -> Result<Approval, KernelError> {
        let known = self.get(caller, id).await?;
        let row = row(caller, &known, kind, self.clock.now());
        if let Err(error) = self.may_decide(caller, &known, kind) {
            let outcome = AuditOutcome::Refused(error.reason().to_owned());
            self.audit.record(AuditKind::Refusal, AuditRow { outcome, ..row });
            return Err(error.into());
        }
        let word = match kind {
            DecisionKind::Approve => DecisionWord::Approve,
            DecisionKind::Deny => DecisionWord::Deny,
        };
        let decision = Decision { word, by: caller.principal.owner().clone(), door: caller.door, at: self.clock.now() };
        self.audit.commit(row.clone()).await?;
        let decided = match self.store.decide(id, digest, decision).await {
            Ok(decided) => Ok(decided),
            Err(StoreError::Conflict | StoreError::NotFound) => Err(self.why_not(caller, id).await?.into()),
            Err(error) => Err(KernelError::from(error)),
        };
        let outcome = match &decided {
            Ok(_) => AuditOutcome::Succeeded,
            Err(error) => AuditOutcome::Refused(error.reason().to_owned()),
        };
        self.audit.record(AuditKind::Deed, AuditRow { outcome, ..row });
        decided
    }

    fn may_decide(&self, caller: &Caller, known: &Approval, kind: DecisionKind) -> Result<(), ApprovalError> {
        if !caller.is_person() {
            return Err(ApprovalError::NotAPerson);
        }
        if kind == DecisionKind::Deny {
            return Ok(());
        }
        if !self.may_use(caller, known) {
            return Err(ApprovalError::NoRight(known.tool.clone()));
        }
        if known.at_machine && !is_at_this_machine(caller) {
            return Err(ApprovalError::AtThisMachine(known.id));
        }
        Ok(())
    }

    /// Whether whoever decides may use the tool, through the agent that wants to. Of a tool that is not there now only a
    /// narrowed caller is not known to have it: before the call is made its owner's rights are looked at again.
    fn may_use(&self, caller: &Caller, known: &Approval) -> bool {
        match self.pipeline.catalog().get(&known.tool) {
            Some(tool) => caller.principal.may_use(&tool.traits, known.agent.as_ref()),
            None => caller.principal.scope().is_empty(),
        }
    }

    async fn why_not(&self, caller: &Caller, id: ApprovalId) -> Result<ApprovalError, KernelError> {
        let state = self.get(caller, id).await?.state;
        Ok(match state {
            ApprovalState::Pending => ApprovalError::OtherCall(id),
            ApprovalState::Approved | ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Used => {
                ApprovalError::NotWaiting { id, state }
            }
        })
    }
}

impl ApprovalError {
    /// The word for the API and the audit log.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown_approval",
            Self::NotWaiting { .. } => "not_waiting",
            Self::OtherCall(_) => "other_call",
            Self::NotAPerson => "not_a_person",
            Self::NoRight(_) => "no_right_to_the_tool",
            Self::AtThisMachine(_) => "at_this_machine",
        }
    }
}

/// The owner whose approvals the caller sees; none for the admin, who sees those of everybody.
fn whose(caller: &Caller) -> Option<&Owner> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) => None,
        PrincipalKind::Local | PrincipalKind::User(_) => Some(caller.principal.owner()),
    }
}

fn is_at_this_machine(caller: &Caller) -> bool {
    match caller.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => caller.door == Door::Cli,
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => false,
    }
}

fn row(caller: &Caller, known: &Approval, kind: DecisionKind, at: jiff::Timestamp) -> AuditRow {
    let step = match kind {
        DecisionKind::Approve => ApprovalStep::Approve,
        DecisionKind::Deny => ApprovalStep::Deny,
    };
    AuditRow {
        trace: caller.trace,
        at,
        owner: caller.principal.owner().clone(),
        door: caller.door,
        agent: known.agent.clone(),
        run: None,
        subject: AuditSubject::Approval { id: known.id, step, tool: known.tool.clone() },
        outcome: AuditOutcome::Started,
        micros: 0,
    }
}

/// An approval as it is shown.
pub(crate) fn view(known: &Approval) -> ApprovalView {
    ApprovalView {
        id: known.id,
        owner: known.owner.clone(),
        state: known.state.to_string(),
        agent: known.agent.clone(),
        task: known.task,
        tool: known.tool.clone(),
        arguments: serde_json::from_str(&known.arguments).unwrap_or_else(|_| Value::from(known.arguments.clone())),
        digest: known.digests.call.clone(),
        reason: known.reason.clone(),
        labels: known.labels.clone(),
        at_machine: known.at_machine,
        made: known.made,
        expires: known.expires,
        decided_by: known.decided.as_ref().map(|decision| decision.by.clone()),
        decided_at: known.decided.as_ref().map(|decision| decision.at),
    }
}
