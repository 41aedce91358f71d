//! What a person does with schedules, through the daemon or in this process.

use openfang_types::api::{ScheduleAction, ScheduleChange, ScheduleStatus};
use openfang_types::ids::ScheduleId;
use serde_json::json;

use super::Backend;
use crate::error::CliError;

impl Backend {
    /// Pauses, resumes or runs a schedule.
    pub(crate) async fn change_schedule(
        &self,
        id: ScheduleId,
        action: ScheduleAction,
    ) -> Result<ScheduleStatus, CliError> {
        match self {
            Self::Daemon(daemon) => {
                daemon.post(&format!("/api/schedules/{id}"), &json!(ScheduleChange { action })).await
            }
            Self::InProcess(here) => here.said(here.kernel.change_schedule(&here.caller, id, action).await),
        }
    }

    /// Whether a server starts what is scheduled.
    pub(crate) const fn has_server(&self) -> bool {
        match self {
            Self::Daemon(_) => true,
            Self::InProcess(_) => false,
        }
    }
}
