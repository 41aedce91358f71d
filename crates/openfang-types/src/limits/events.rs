//! Limits of events that agents and people publish.

use std::time::Duration;

/// The type of an event.
pub const EVENT_TYPE_MAX_BYTES: usize = 64;
/// The maximum of `events.payload_bytes`.
pub const EVENT_PAYLOAD_CEILING: usize = 1024 * 1024;
/// Events of one owner that are kept.
pub const EVENTS_KEPT: usize = 1_000;
/// Bytes of the events of one owner that are kept.
pub const EVENTS_KEPT_BYTES: usize = 16 * 1024 * 1024;
/// Events of one owner that may wait until a server delivers them.
pub const EVENTS_WAITING: usize = 500;
/// How many event types a minute may have of one owner, in full rates of one type.
pub const EVENT_TYPES_AT_FULL_RATE: u32 = 10;
/// How often a run that an event started may start another one.
pub const EVENT_HOPS: usize = 8;
/// Runs that one event starts at most.
pub const EVENT_FAN_OUT: usize = 16;
/// Triggers of one agent.
pub const TRIGGERS_PER_AGENT: usize = 16;
/// What a trigger tells its agent.
pub const TRIGGER_MESSAGE_MAX_BYTES: usize = 4 * 1024;
/// Events that one look delivers.
pub const EVENTS_AT_A_TIME: usize = 32;
/// Events on one page of a list.
pub const EVENT_PAGE: usize = 50;
/// Bytes of the events on one page.
pub const EVENT_PAGE_BYTES: usize = 256 * 1024;
/// Runs of one owner that events started, and whose origin is remembered.
pub const EVENT_RUNS_KEPT: usize = 10_000;
/// The time in which events are counted.
pub const EVENT_PERIOD: Duration = Duration::from_secs(60);
/// Hooks that are sent something at a time.
pub const HOOKS_AT_A_TIME: usize = 32;
/// The maximum of `events.hooks`.
pub const HOOKS_MAX: usize = 64;
/// Looks at one delivery to a hook, with those that only waited for its turn.
pub const HOOK_ROUNDS: usize = 100;
