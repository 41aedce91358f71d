//! The order in which the calls of one answer run: those that only read together, a few at a time; the others one after the
//! other in the lane of whatever they change.

use std::collections::{BTreeMap, VecDeque};

use openfang_types::limits::ANSWER_READS_AT_ONCE;
use openfang_types::tool::{Origin, ToolTraits};

/// What a call must not run beside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Calls that only read.
    Reads,
    /// The tools of OpenFang itself, which share the workspace.
    Builtin,
    /// One MCP server or external agent.
    Peer(String),
}

impl Lane {
    /// The lane of a tool. One that does not exist has no effect.
    pub(super) fn of(tool: Option<&ToolTraits>) -> Self {
        match tool {
            None => Self::Reads,
            Some(tool) if tool.annotations.read_only_hint => Self::Reads,
            Some(tool) => match &tool.origin {
                Origin::Builtin | Origin::Skill(_) => Self::Builtin,
                Origin::McpServer(server) => Self::Peer(format!("server {server}")),
                Origin::A2aAgent(agent) => Self::Peer(format!("agent {agent}")),
            },
        }
    }
}

/// The calls that wait, and how many of each lane run.
#[derive(Default)]
pub(super) struct Lanes {
    waiting: BTreeMap<Lane, VecDeque<usize>>,
    running: BTreeMap<Lane, usize>,
}

impl Lanes {
    /// Adds a call by its place in the answer.
    pub(super) fn add(&mut self, lane: Lane, place: usize) {
        self.waiting.entry(lane).or_default().push_back(place);
    }

    /// Takes out the calls that may begin now.
    pub(super) fn ready(&mut self) -> Vec<(Lane, usize)> {
        let mut ready = Vec::new();
        for (lane, places) in &mut self.waiting {
            let at_once = if *lane == Lane::Reads { ANSWER_READS_AT_ONCE } else { 1 };
            let running = self.running.entry(lane.clone()).or_default();
            while *running < at_once
                && let Some(place) = places.pop_front()
            {
                *running += 1;
                ready.push((lane.clone(), place));
            }
        }
        ready
    }

    /// A call of this lane has ended.
    pub(super) fn end(&mut self, lane: &Lane) {
        if let Some(running) = self.running.get_mut(lane) {
            *running = running.saturating_sub(1);
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
