//! Events that agents and people publish, under `[events]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::limits::EVENT_PAYLOAD_CEILING;

/// Events that agents and people publish, under `[events]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventsConfig {
    /// Maximum events of one type that one owner publishes in a minute. Of all types together: ten times as many.
    pub per_minute: u32,
    /// Maximum bytes of the payload of an event.
    pub payload_bytes: usize,
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self { per_minute: 60, payload_bytes: 65_536 }
    }
}

pub(super) fn problems(events: &EventsConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: format!("events.{key}"), why });
    if !(1..=100_000).contains(&events.per_minute) {
        say("per_minute", "must be between 1 and 100000".to_owned());
    }
    if !(1..=EVENT_PAYLOAD_CEILING).contains(&events.payload_bytes) {
        say("payload_bytes", format!("must be between 1 and {EVENT_PAYLOAD_CEILING}"));
    }
    problems
}
