//! What a person does with a schedule: pause it, resume it, run it now.

use openfang_store::{Schedule, ScheduleState, StoreError};
use openfang_types::api::{ScheduleAction, ScheduleStatus};
use openfang_types::ids::ScheduleId;

use super::{Schedules, next_of, status_of};
use crate::{Caller, KernelError};

/// Why a schedule was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There is none, or it is somebody else's: the two look the same.
    #[error("there is no schedule {0}; `openfang schedule list` shows what there is")]
    Unknown(ScheduleId),
    /// Only a person changes schedules.
    #[error("a person has to do this: use the command line, or a key that was not made with `--trust untrusted-agent`")]
    NotAPerson,
    /// A run is under way.
    #[error("a run of schedule {0} is under way; wait for its end")]
    Running(ScheduleId),
    /// There is no next time.
    #[error("schedule {0} is over; create a new one")]
    Ended(ScheduleId),
    /// Something changed at the same time.
    #[error("schedule {0} changed meanwhile; look at it again")]
    Changed(ScheduleId),
    /// It could not run now.
    #[error("schedule {id} cannot run: {why}")]
    NotAllowed { id: ScheduleId, why: String },
}

impl ScheduleError {
    /// The word for the API.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown_schedule",
            Self::NotAPerson => "not_a_person",
            Self::Running(_) => "schedule_running",
            Self::Ended(_) => "schedule_ended",
            Self::Changed(_) => "schedule_changed",
            Self::NotAllowed { .. } => "schedule_not_allowed",
        }
    }
}

impl Schedules {
    /// Changes one's own schedule, or runs it now and waits for the end of the run.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        id: ScheduleId,
        action: ScheduleAction,
    ) -> Result<ScheduleStatus, KernelError> {
        if !caller.is_person() {
            return Err(ScheduleError::NotAPerson.into());
        }
        let known = self.known(caller, id).await?;
        let owner = caller.principal.owner();
        let changed = match (action, known.state) {
            (ScheduleAction::Run, _) => return self.run_now(caller, known).await,
            (_, ScheduleState::Ended | ScheduleState::Deleted) => return Err(ScheduleError::Ended(id).into()),
            (ScheduleAction::Pause, ScheduleState::Paused) | (ScheduleAction::Resume, ScheduleState::Active) => {
                return Ok(status_of(&known));
            }
            (ScheduleAction::Pause, ScheduleState::Active) => {
                Schedule { state: ScheduleState::Paused, reason: Some(format!("paused by {owner}")), ..known }
            }
            (ScheduleAction::Resume, ScheduleState::Paused) => self.resumed(known)?,
        };
        let stored = self.inner.store.update(changed).await;
        stored.map(|stored| status_of(&stored)).map_err(|error| changed_meanwhile(id, error))
    }

    fn resumed(&self, known: Schedule) -> Result<Schedule, KernelError> {
        let id = known.id;
        self.caller_of(&known).map_err(|why| ScheduleError::NotAllowed { id, why })?;
        let next_at = next_of(&known, self.inner.clock.now());
        let next_at = next_at.map_err(|error| ScheduleError::NotAllowed { id, why: error.to_string() })?;
        if next_at.is_none() {
            return Err(ScheduleError::Ended(id).into());
        }
        Ok(Schedule { state: ScheduleState::Active, reason: None, failures: 0, next_at, ..known })
    }

    async fn run_now(&self, caller: &Caller, known: Schedule) -> Result<ScheduleStatus, KernelError> {
        let id = known.id;
        if known.run.is_some() {
            return Err(ScheduleError::Running(id).into());
        }
        self.caller_of(&known).map_err(|why| ScheduleError::NotAllowed { id, why })?;
        let claimed = match self.claim(known, self.inner.clock.now()).await {
            Err(KernelError::Store(error)) => return Err(changed_meanwhile(id, error)),
            claimed => claimed?,
        };
        if self.begin(claimed).await.is_err() {
            tracing::error!(schedule = %id, "a scheduled run broke");
        }
        Ok(status_of(&self.known(caller, id).await?))
    }

    /// One's own schedule. Whoever is narrowed knows of what was created so.
    async fn known(&self, caller: &Caller, id: ScheduleId) -> Result<Schedule, KernelError> {
        let narrowing = caller.principal.begun_as();
        let found = self.inner.store.get(caller.principal.owner(), id).await?;
        let known = found.filter(|schedule| narrowing.is_empty() || narrowing == schedule.scope);
        known.ok_or_else(|| ScheduleError::Unknown(id).into())
    }
}

fn changed_meanwhile(id: ScheduleId, error: StoreError) -> KernelError {
    match error {
        StoreError::Conflict => ScheduleError::Changed(id).into(),
        StoreError::NotFound => ScheduleError::Unknown(id).into(),
        error => error.into(),
    }
}
