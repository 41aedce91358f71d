//! Schedules, under `[schedules]`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::limits::{SCHEDULE_LATE_HOURS_MAX, TIME_ZONE_MAX_BYTES};

/// Settings of schedules, under `[schedules]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulesConfig {
    /// The time zone of schedules that name none, such as `Europe/Berlin`. Empty: the time zone of the system.
    pub time_zone: String,
    /// Maximum schedules of one owner that are not over. The next one is refused.
    pub per_owner: usize,
    /// Minimum seconds between two runs of a schedule.
    pub min_interval_secs: u64,
    /// Hours for which a run that was missed is made up for, once. Later it is skipped.
    pub late_hours: u32,
}

impl Default for SchedulesConfig {
    fn default() -> Self {
        Self { time_zone: String::new(), per_owner: 100, min_interval_secs: 60, late_hours: 24 }
    }
}

impl SchedulesConfig {
    /// How late a run may begin.
    pub fn lateness(&self) -> Duration {
        Duration::from_secs(u64::from(self.late_hours) * 3_600)
    }
}

pub(super) fn problems(schedules: &SchedulesConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: format!("schedules.{key}"), why });
    if schedules.time_zone.len() > TIME_ZONE_MAX_BYTES {
        say("time_zone", format!("must have at most {TIME_ZONE_MAX_BYTES} characters"));
    }
    if !(1..=10_000).contains(&schedules.per_owner) {
        say("per_owner", "must be between 1 and 10000".to_owned());
    }
    if !(60..=86_400).contains(&schedules.min_interval_secs) {
        say("min_interval_secs", "must be between 60 and 86400".to_owned());
    }
    if !(1..=SCHEDULE_LATE_HOURS_MAX).contains(&schedules.late_hours) {
        say("late_hours", format!("must be between 1 and {SCHEDULE_LATE_HOURS_MAX}"));
    }
    problems
}
