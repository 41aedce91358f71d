//! Events that agents and people publish, under `[events]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::agent::EventPattern;
use crate::ids::Owner;
use crate::limits::{API_KEY_MIN_BYTES, EVENT_PAYLOAD_CEILING, HOOKS_MAX};
use crate::secret::Secret;

/// Events that agents and people publish, under `[events]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventsConfig {
    /// Maximum events of one type that one owner publishes in a minute. Of all types together: ten times as many.
    pub per_minute: u32,
    /// Maximum bytes of the payload of an event.
    pub payload_bytes: usize,
    /// URLs that are sent events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<EventHook>,
}

/// An `[[events.hooks]]` entry: a URL that is sent the events of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventHook {
    /// The type of the events, such as `build.failed`; `build.*` for all that begin so, `*` for all.
    pub on: EventPattern,
    /// A public URL, or one that `egress.allow` covers.
    pub url: String,
    /// Whose events are sent: a user, or `admin`.
    #[serde(default = "Owner::admin")]
    pub owner: Owner,
    /// The key of the signature in `X-OpenFang-Signature`; it is also sent as `X-A2A-Notification-Token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self { per_minute: 60, payload_bytes: 65_536, hooks: Vec::new() }
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
    if events.hooks.len() > HOOKS_MAX {
        say("hooks", format!("has at most {HOOKS_MAX} entries"));
    }
    for (index, hook) in events.hooks.iter().enumerate() {
        if !["http://", "https://"].iter().any(|scheme| hook.url.starts_with(scheme)) {
            say(&format!("hooks[{index}].url"), "must begin with http:// or https://".to_owned());
        }
        let is_usable = |token: &Secret| {
            token.expose().len() >= API_KEY_MIN_BYTES && token.expose().bytes().all(|b| b.is_ascii_graphic())
        };
        if hook.token.as_ref().is_some_and(|token| !is_usable(token)) {
            let why = format!("must be visible ASCII without spaces, of {API_KEY_MIN_BYTES} characters or more");
            say(&format!("hooks[{index}].token"), why);
        }
    }
    problems
}
