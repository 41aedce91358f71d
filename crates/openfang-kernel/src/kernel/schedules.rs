//! Schedules.

use openfang_types::api::{ScheduleAction, ScheduleStatus};
use openfang_types::ids::ScheduleId;

use super::Kernel;
use crate::{Caller, KernelError};

impl Kernel {
    /// Pauses or resumes one's own schedule, or runs it now and waits for the end of the run.
    pub async fn change_schedule(
        &self,
        caller: &Caller,
        id: ScheduleId,
        action: ScheduleAction,
    ) -> Result<ScheduleStatus, KernelError> {
        self.parts.schedules.change(caller, id, action).await
    }

    /// Starts the schedules that are due now. A server does this by itself.
    pub async fn start_due_schedules(&self) -> Result<(), KernelError> {
        self.parts.schedules.start_due().await.map(|_| ())
    }
}
