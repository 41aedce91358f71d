//! Calls that wait for a person.

use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::ids::ApprovalId;

use super::Kernel;
use crate::approvals::view;
use crate::{Caller, KernelError};

impl Kernel {
    /// The approvals that the caller may see, newest first.
    pub async fn approvals(&self, caller: &Caller) -> Result<Vec<ApprovalView>, KernelError> {
        self.parts.approvals.list(caller).await
    }

    /// One approval that the caller may see.
    pub async fn approval(&self, caller: &Caller, id: ApprovalId) -> Result<ApprovalView, KernelError> {
        Ok(view(&self.parts.approvals.get(caller, id).await?))
    }

    /// Decides on a call that waits. The digest says which call the person was shown. A task that waits for the decision goes
    /// on.
    pub async fn decide_approval(
        &self,
        caller: &Caller,
        id: ApprovalId,
        decision: (DecisionKind, &str),
    ) -> Result<ApprovalView, KernelError> {
        let decided = self.parts.approvals.decide(caller, id, decision).await?;
        if let Some(task) = decided.task
            && let Err(error) = self.parts.tasks.go_on_after_decision(caller, &decided, task).await
        {
            tracing::warn!(%error, %task, "a task did not go on after a decision on its call; a message to it does that");
        }
        Ok(view(&decided))
    }
}
