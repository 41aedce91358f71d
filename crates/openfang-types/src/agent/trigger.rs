//! What an agent does when an event is published.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ids::{EventType, IdError};

/// A `[[triggers]]` entry: the agent is told of events that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The type of the events, such as `build.failed`; `build.*` for all that begin so, `*` for all.
    pub on: EventPattern,
    /// What the agent is told. The event with its payload is added as data.
    pub message: String,
}

/// A type of events, or the beginning of types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct EventPattern(String);

impl EventPattern {
    pub fn matches(&self, event_type: &EventType) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => event_type.as_str().starts_with(beginning),
            None => event_type.as_str() == self.0,
        }
    }
}

impl FromStr for EventPattern {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.strip_suffix('*') {
            Some("") => {}
            Some(beginning) => drop(beginning.parse::<EventType>()?),
            None => drop(text.parse::<EventType>()?),
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
