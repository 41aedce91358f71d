//! Schedules: a process that listens starts what is due, and pauses what may not start any more.
//!
//! ```text
//! due ── too late ──────────────> skipped, with the next time
//!  ├──── its rights are gone ───> paused, with the reason
//!  └──── claimed ── one task ───> the next time; paused after five failed runs; ended without a next time
//! ```
//!
//! A claim is a change of the row that only one process makes. The task has a name made of the schedule and its time, so
//! a process that takes over the claim of a dead one finds the task, or makes it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openfang_runtime::pipeline::Pipeline;
use openfang_runtime::timing::{Timing, TimingError, Zone};
use openfang_store::{DueSchedules, Schedule, ScheduleOutcome, ScheduleRun, ScheduleState, ScheduleStore, StoreError};
use openfang_types::api::ScheduleStatus;
use openfang_types::clock::{Clock, IdSource};
use openfang_types::ids::{TaskId, TraceId};
use openfang_types::limits::{SCHEDULE_FAILURES, SCHEDULE_LOOK, SCHEDULES_AT_A_TIME, WATCH_OVER};
use openfang_types::task::{Message, Role, TaskState};

use crate::KernelError;
use crate::drain::Life;
use crate::settings::LiveSettings;
use crate::tasks::Tasks;
use crate::tasks::unattended::UnattendedMessage;

mod change;
mod rights;

pub use change::ScheduleError;

/// The schedules, as far as this process works on them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Schedules {
    inner: Arc<SchedulesParts>,
}

/// What the room of schedules is made with.
pub(crate) struct SchedulesParts {
    pub(crate) store: Arc<dyn ScheduleStore>,
    pub(crate) tasks: Tasks,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) life: Life,
}

impl Schedules {
    pub(crate) fn new(parts: SchedulesParts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// Starts what is due, whenever something is. Without a schedule it sleeps until there is one.
    pub(crate) async fn start_when_due(self) {
        let mut changes = self.inner.store.changes();
        loop {
            changes.mark_unchanged();
            let pause = self.start_due().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the schedules could not be looked at");
                Some(WATCH_OVER)
            });
            let rest = async {
                match pause {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Ok(()) = changes.changed() => {}
                () = rest => {}
            }
        }
    }

    /// Starts what is due now. Says how long nothing more is; none if there is no schedule. The clock may jump, so the
    /// pause is never long.
    pub(crate) async fn start_due(&self) -> Result<Option<Duration>, KernelError> {
        loop {
            let now = self.inner.clock.now();
            let DueSchedules { schedules, next } = self.inner.store.due(now, SCHEDULES_AT_A_TIME).await?;
            if schedules.is_empty() {
                let until = |next: Timestamp| Duration::try_from(next.duration_since(now)).unwrap_or_default();
                return Ok(next.map(|next| until(next).min(SCHEDULE_LOOK)));
            }
            for schedule in schedules {
                match self.start(schedule, now).await {
                    // Another process was faster, or somebody changed it.
                    Ok(()) | Err(KernelError::Store(StoreError::Conflict | StoreError::NotFound)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Takes over the runs of dead processes.
    pub(crate) async fn recover(&self) -> Result<(), KernelError> {
        let running = self.inner.store.running().await?;
        if running.is_empty() {
            return Ok(());
        }
        let Some(living) = self.inner.tasks.living()? else { return Ok(()) };
        for schedule in running {
            let Some(run) = schedule.run.clone().filter(|run| !living.contains(&run.node)) else { continue };
            let taken = ScheduleRun { node: self.inner.tasks.node_id(), ..run };
            match self.inner.store.update(Schedule { run: Some(taken), ..schedule }).await {
                Ok(claimed) => drop(self.begin(claimed)),
                Err(StoreError::Conflict | StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Starts, skips or pauses one that is due.
    async fn start(&self, schedule: Schedule, now: Timestamp) -> Result<(), KernelError> {
        let Some(due) = schedule.next_at else { return Ok(()) };
        let next_at = match next_of(&schedule, now) {
            Ok(next_at) => next_at,
            Err(error) => return self.pause(schedule, error.to_string()).await,
        };
        let late = Duration::try_from(now.duration_since(due)).unwrap_or_default();
        if late > self.inner.settings.current().config().schedules.lateness() {
            let outcome = format!("skipped, because it would have been {} hours late", late.as_secs() / 3_600);
            let last = Some(ScheduleOutcome { due, task: None, outcome });
            let state = state_after(ScheduleState::Active, next_at);
            self.inner.store.update(Schedule { next_at, last, state, ..schedule }).await?;
            return Ok(());
        }
        if let Err(why) = self.caller_of(&schedule) {
            return self.pause(schedule, why).await;
        }
        let claimed = self.claim(Schedule { next_at, ..schedule }, due).await?;
        drop(self.begin(claimed));
        Ok(())
    }

    /// The one change that lets a run begin.
    async fn claim(&self, schedule: Schedule, due: Timestamp) -> Result<Schedule, KernelError> {
        let run = Some(ScheduleRun { node: self.inner.tasks.node_id(), due });
        let trace = Some(TraceId::from_uuid(self.inner.ids.random()));
        Ok(self.inner.store.update(Schedule { run, trace, ..schedule }).await?)
    }

    /// Works on a claimed run beside everything else.
    fn begin(&self, claimed: Schedule) -> tokio::task::JoinHandle<()> {
        let schedules = self.clone();
        self.inner.life.tracker().spawn(async move {
            let Some(run) = claimed.run.clone() else { return };
            let outcome = schedules.run(&claimed, run.due).await;
            if let Err(error) = schedules.settle(claimed, outcome).await {
                tracing::warn!(%error, "the end of a scheduled run was not stored");
            }
        })
    }

    async fn run(&self, schedule: &Schedule, due: Timestamp) -> RunEnd {
        let caller = match self.caller_of(schedule) {
            Ok(caller) => caller,
            Err(why) => return RunEnd::failed(why),
        };
        let name = format!("schedule-{}-{}", schedule.id, due.as_nanosecond());
        let (Ok(message_id), Ok(name)) = (name.parse(), name.parse()) else {
            return RunEnd::failed("the task cannot be named".to_owned());
        };
        let sent = UnattendedMessage {
            caller,
            agent: schedule.agent.clone(),
            message: Message::text(message_id, Role::User, schedule.description.clone()),
            labels: schedule.labels.clone(),
            name,
        };
        tracing::info!(schedule = %schedule.id, agent = %schedule.agent, "a schedule is due");
        match self.inner.tasks.send_unattended(sent).await {
            Ok(None) => RunEnd { task: None, outcome: TaskState::Completed.as_str().to_owned(), is_failed: false },
            Ok(Some(settled)) => {
                let state = settled.task.status.state;
                RunEnd {
                    task: Some(settled.task.id),
                    outcome: state.as_str().to_owned(),
                    is_failed: state != TaskState::Completed,
                }
            }
            Err(error) => RunEnd::failed(format!("not started: {error}")),
        }
    }

    /// Writes down how a run ended, whatever happened to the schedule meanwhile.
    async fn settle(&self, mut claimed: Schedule, end: RunEnd) -> Result<(), KernelError> {
        loop {
            let Some(run) = claimed.run.clone() else { return Ok(()) };
            let changed = settled(claimed.clone(), &run, &end, self.inner.clock.now());
            match self.inner.store.update(changed).await {
                Ok(_) => return Ok(()),
                Err(StoreError::NotFound) => return Ok(()),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
            let running = self.inner.store.running().await?;
            let Some(now) = running.into_iter().find(|known| known.id == claimed.id && known.run == claimed.run) else {
                return Ok(());
            };
            claimed = now;
        }
    }

    async fn pause(&self, schedule: Schedule, why: String) -> Result<(), KernelError> {
        tracing::warn!(schedule = %schedule.id, %why, "a schedule is paused");
        let paused = Schedule { state: ScheduleState::Paused, reason: Some(why), ..schedule };
        self.inner.store.update(paused).await?;
        Ok(())
    }
}

/// How a run ended.
struct RunEnd {
    task: Option<TaskId>,
    outcome: String,
    is_failed: bool,
}

impl RunEnd {
    const fn failed(outcome: String) -> Self {
        Self { task: None, outcome, is_failed: true }
    }
}

/// A schedule after its run. Times that came during the run are not made up for.
fn settled(claimed: Schedule, run: &ScheduleRun, end: &RunEnd, now: Timestamp) -> Schedule {
    let failures = if end.is_failed { claimed.failures.saturating_add(1) } else { 0 };
    let last = ScheduleOutcome { due: run.due, task: end.task, outcome: end.outcome.clone() };
    let is_past = claimed.next_at.is_some_and(|next| next <= now);
    let next_at = if is_past { next_of(&claimed, now).unwrap_or(claimed.next_at) } else { claimed.next_at };
    let state = state_after(claimed.state, next_at);
    let ended = Schedule { run: None, last: Some(last), failures, next_at, state, ..claimed };
    if failures >= SCHEDULE_FAILURES && ended.state == ScheduleState::Active {
        let reason = format!("{failures} runs in a row did not complete; the last one: {}", end.outcome);
        return Schedule { state: ScheduleState::Paused, reason: Some(reason), ..ended };
    }
    ended
}

const fn state_after(state: ScheduleState, next_at: Option<Timestamp>) -> ScheduleState {
    match (state, next_at) {
        (ScheduleState::Active, None) => ScheduleState::Ended,
        (state, _) => state,
    }
}

fn next_of(schedule: &Schedule, now: Timestamp) -> Result<Option<Timestamp>, TimingError> {
    let timing: Timing = schedule.timing.parse()?;
    Ok(timing.next(now, &Zone::named(&schedule.time_zone)?))
}

/// The status of a schedule, as the API shows it.
fn status_of(schedule: &Schedule) -> ScheduleStatus {
    let last = schedule.last.as_ref();
    ScheduleStatus {
        id: schedule.id,
        status: schedule.state.as_str().to_owned(),
        reason: schedule.reason.clone(),
        next_at: schedule.next_at.filter(|_| schedule.state == ScheduleState::Active),
        last_task: last.and_then(|last| last.task),
        last_outcome: last.map(|last| last.outcome.clone()),
    }
}
