//! Limits of schedules.

use std::time::Duration;

/// What a schedule tells its agent.
pub const SCHEDULE_DESCRIPTION_MAX_BYTES: usize = 8 * 1024;
/// When a schedule is due, as it is written.
pub const SCHEDULE_TEXT_MAX_BYTES: usize = 200;
/// The name of a time zone.
pub const TIME_ZONE_MAX_BYTES: usize = 64;
/// Failed runs in a row after which a schedule is paused.
pub const SCHEDULE_FAILURES: u32 = 5;
/// Schedules of one owner that are over and are kept.
pub const SCHEDULES_ENDED_KEPT: usize = 20;
/// How far ahead a time is searched; a schedule without one never runs.
pub const SCHEDULE_HORIZON_YEARS: i16 = 40;
/// The longest fixed interval of a schedule.
pub const SCHEDULE_INTERVAL_MAX_DAYS: u64 = 366;
/// Times that are shown when a schedule is created.
pub const SCHEDULE_TIMES_SHOWN: usize = 3;
/// Schedules that one look starts.
pub const SCHEDULES_AT_A_TIME: usize = 64;
/// How often the clock is compared with the next due time, because it may jump.
pub const SCHEDULE_LOOK: Duration = Duration::from_secs(20);
/// The maximum of `schedules.late_hours`.
pub const SCHEDULE_LATE_HOURS_MAX: u32 = 24 * 366;
