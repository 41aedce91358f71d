//! Paths below the base URL of HTTP+JSON.

use percent_encoding::percent_decode_str;

use crate::dialect::{Dialect, OWN_SEGMENTS};

/// A parsed path of HTTP+JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RestPath {
    /// The agent, if the path names one.
    pub(crate) tenant: Option<String>,
    pub(crate) dialect: Dialect,
    pub(crate) resource: Resource,
}

/// The resource a path refers to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Send,
    Stream,
    Tasks,
    Task(String),
    Cancel(String),
    Subscribe(String),
    Pushes(String),
    Push(String, String),
    ExtendedCard,
    Card,
}

impl RestPath {
    /// Parses a path that has no leading slash.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let mut segments = Vec::new();
        for segment in path.split('/') {
            segments.push(percent_decode_str(segment).decode_utf8().ok()?.into_owned());
        }
        let mut rest = segments.as_slice();
        let mut tenant = None;
        if let Some((first, others)) = rest.split_first().filter(|(first, _)| !OWN_SEGMENTS.contains(&first.as_str())) {
            tenant = Some(first.clone());
            rest = others;
        }
        let mut dialect = Dialect::V10;
        if let Some((_, others)) = rest.split_first().filter(|(first, _)| *first == "v1") {
            dialect = Dialect::V03Proto;
            rest = others;
        }
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        Some(Self { tenant, dialect, resource: resource(&rest)? })
    }
}

fn resource(segments: &[&str]) -> Option<Resource> {
    let named = |id: &str| (!id.is_empty()).then(|| id.to_owned());
    match segments {
        ["message:send"] => Some(Resource::Send),
        ["message:stream"] => Some(Resource::Stream),
        ["tasks"] => Some(Resource::Tasks),
        ["extendedAgentCard"] => Some(Resource::ExtendedCard),
        ["card"] => Some(Resource::Card),
        // Ids may contain colons; the operation follows the last one.
        ["tasks", task] => match task.rsplit_once(':') {
            Some((id, "cancel")) => named(id).map(Resource::Cancel),
            Some((id, "subscribe")) => named(id).map(Resource::Subscribe),
            Some(_) | None => named(task).map(Resource::Task),
        },
        ["tasks", task, "pushNotificationConfigs"] => named(task).map(Resource::Pushes),
        ["tasks", task, "pushNotificationConfigs", id] => Some(Resource::Push(named(task)?, named(id)?)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
