//! The tools of schedules share how a schedule is shown, and which of them a caller knows of.

use openfang_store::{Schedule, ScheduleState};
use openfang_types::limits::SCHEDULE_TIMES_SHOWN;
use openfang_types::principal::Principal;
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolFailure;
use crate::timing::{Timing, TimingError, Zone};

pub(super) mod schedule_create;
pub(super) mod schedule_delete;
pub(super) mod schedule_list;

/// A schedule, as it is shown.
#[derive(Serialize, JsonSchema)]
struct ScheduleView {
    id: String,
    /// What the agent is told; the beginning, where several are listed.
    description: String,
    agent: String,
    /// The cron expression; absent for an interval and for what happens once.
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    /// When it runs, in words.
    when: String,
    time_zone: String,
    /// active, paused or ended.
    status: String,
    /// Why it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The next times, if it is active.
    next_times: Vec<String>,
    /// Whether a run is under way.
    running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run: Option<LastRunView>,
    /// Failed runs in a row.
    failures: u32,
    /// The agent that created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    created_at: String,
}

/// What became of the latest run.
#[derive(Serialize, JsonSchema)]
struct LastRunView {
    /// The time that it was for.
    due: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The state of its task, or why there is none.
    outcome: String,
}

impl ScheduleView {
    /// The view of a schedule, whose next times come after `now`.
    fn of(schedule: Schedule, now: jiff::Timestamp) -> Self {
        let read = read(&schedule);
        let is_active = schedule.state == ScheduleState::Active;
        let (cron, when, next_times) = match &read {
            Ok((timing, zone)) => {
                let first = schedule.next_at.filter(|_| is_active);
                let later = first.map(|first| timing.some(first.max(now), zone, SCHEDULE_TIMES_SHOWN - 1));
                let times = first.into_iter().chain(later.into_iter().flatten()).map(|at| zone.shown(at));
                (timing.cron().map(ToString::to_string), timing.in_words(zone), times.collect())
            }
            Err(error) => (None, error.to_string(), Vec::new()),
        };
        let last_run = schedule.last.map(|last| LastRunView {
            due: read.as_ref().map_or_else(|_| last.due.to_string(), |(_, zone)| zone.shown(last.due)),
            task_id: last.task.map(|task| task.to_string()),
            outcome: last.outcome,
        });
        Self {
            id: schedule.id.to_string(),
            description: schedule.description,
            agent: schedule.agent.to_string(),
            cron,
            when,
            time_zone: schedule.time_zone,
            status: schedule.state.as_str().to_owned(),
            reason: schedule.reason,
            next_times,
            running: schedule.run.is_some(),
            last_run,
            failures: schedule.failures,
            created_by: schedule.created_by.map(|agent| agent.to_string()),
            created_at: schedule.created_at.to_string(),
        }
    }
}

/// When a stored schedule is due.
fn read(schedule: &Schedule) -> Result<(Timing, Zone), TimingError> {
    Ok((schedule.timing.parse()?, Zone::named(&schedule.time_zone)?))
}

/// Whether a caller knows of a schedule of its owner. Whoever is narrowed knows of what was created so.
fn is_known_to(principal: &Principal, schedule: &Schedule) -> bool {
    let narrowing = principal.begun_as();
    narrowing.is_empty() || narrowing == schedule.scope
}

fn unknown() -> ToolFailure {
    ToolFailure::new("there is no such schedule; schedule_list shows what there is")
}
