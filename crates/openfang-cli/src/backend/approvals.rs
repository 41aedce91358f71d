//! Calls that wait for a person, and the policy, through the daemon or in this process.

use openfang_types::api::{ApprovalDecision, ApprovalList, ApprovalView, DecisionKind, PolicyCases, PolicyReport};
use serde_json::json;

use super::Backend;
use crate::error::CliError;

impl Backend {
    pub(crate) async fn approvals(&self) -> Result<Vec<ApprovalView>, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.get::<ApprovalList>("/api/approvals").await?.approvals),
            Self::InProcess(here) => here.said(here.kernel.approvals(&here.caller).await),
        }
    }

    /// Decides on a call as it was shown.
    pub(crate) async fn decide_approval(
        &self,
        shown: &ApprovalView,
        decision: DecisionKind,
    ) -> Result<ApprovalView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let body = json!(ApprovalDecision { decision, digest: shown.digest.clone() });
                daemon.post(&format!("/api/approvals/{}", shown.id), &body).await
            }
            Self::InProcess(here) => {
                let decided = here.kernel.decide_approval(&here.caller, shown.id, (decision, &shown.digest)).await;
                here.said(decided)
            }
        }
    }
}

impl Backend {
    /// Compares verdicts of the policy with expected ones.
    pub(crate) async fn test_policy(&self, cases: &PolicyCases) -> Result<PolicyReport, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post("/api/policy", &json!(cases)).await,
            Self::InProcess(here) => here.said(here.kernel.judge_cases(&here.caller, cases)),
        }
    }
}
