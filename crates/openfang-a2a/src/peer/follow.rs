//! The known state of a peer's task, merged from answers, streamed events and fetches.
//!
//! Three things are never assumed: that an event in our stream is about our task, that a task may continue after it has
//! ended, and that a stream is complete.

use openfang_types::ids::TaskName;
use openfang_types::task::Artifact;

use super::{PeerEvent, PeerTask};

/// A peer's task with everything received about it so far.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedTask {
    task: PeerTask,
    /// Whether events may have been missed since the whole task was last received.
    has_gap: bool,
}

/// An answer or event about a different task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the agent answered with the task {found} instead of {expected}")]
pub struct WrongTask {
    /// The task we follow.
    pub expected: TaskName,
    /// The task that the peer named.
    pub found: TaskName,
}

impl FollowedTask {
    /// Starts with the task as received.
    pub const fn new(task: PeerTask) -> Self {
        Self { task, has_gap: false }
    }

    /// The task as known so far.
    pub const fn task(&self) -> &PeerTask {
        &self.task
    }

    /// Records that the stream was interrupted and resumed. The peer may not repeat the events in between.
    pub const fn resumed(&mut self) {
        self.has_gap = true;
    }

    /// Whether the task must be fetched again: its stream was interrupted, or it ended without a result.
    pub fn needs_fetch(&self) -> bool {
        let is_empty = self.task.artifacts.is_empty() && self.task.status.message.is_none();
        self.has_gap || (self.task.status.state.is_terminal() && is_empty)
    }

    /// Applies one event to the task.
    pub fn apply(&mut self, event: PeerEvent) -> Result<(), WrongTask> {
        match event {
            PeerEvent::Task(task) => self.merge(*task),
            PeerEvent::Message(said) => {
                self.check(said.task.as_ref())?;
                self.task.history.push(said.message);
                Ok(())
            }
            PeerEvent::Status(changed) => {
                self.check(changed.task.as_ref())?;
                // The first terminal state is final: some peers turn a completed task into a canceled one.
                if !self.task.status.state.is_terminal() {
                    self.task.history.extend(self.task.status.message.take());
                    self.task.status = changed.status;
                }
                Ok(())
            }
            PeerEvent::Artifact(brought) => {
                self.check(brought.task.as_ref())?;
                let (update, held) = (brought.update, &mut self.task.artifacts);
                let known = held.iter_mut().find(|known| known.artifact_id == update.artifact.artifact_id);
                match known {
                    Some(known) if update.append => known.parts.extend(update.artifact.parts),
                    Some(known) => *known = update.artifact,
                    None => held.push(update.artifact),
                }
                Ok(())
            }
        }
    }

    /// Applies a freshly fetched task, which closes any gap.
    pub fn fetched(&mut self, task: PeerTask) -> Result<(), WrongTask> {
        self.merge(task)?;
        self.has_gap = false;
        Ok(())
    }

    /// Merges the known task with the received one. Of each list the longer one is kept, because either may be
    /// truncated.
    fn merge(&mut self, seen: PeerTask) -> Result<(), WrongTask> {
        self.check(Some(&seen.id))?;
        if !self.task.status.state.is_terminal() {
            self.task.status = seen.status;
        } else if self.task.status.message.is_none() && seen.status.state == self.task.status.state {
            self.task.status.message = seen.status.message;
        }
        for artifact in seen.artifacts {
            merge_artifact(&mut self.task.artifacts, artifact);
        }
        if seen.history.len() >= self.task.history.len() {
            self.task.history = seen.history;
        }
        if self.task.context_id.is_none() {
            self.task.context_id = seen.context_id;
        }
        self.task.metadata.extend(seen.metadata);
        Ok(())
    }

    fn check(&self, named: Option<&TaskName>) -> Result<(), WrongTask> {
        match named {
            Some(found) if *found != self.task.id => {
                Err(WrongTask { expected: self.task.id.clone(), found: found.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn merge_artifact(held: &mut Vec<Artifact>, seen: Artifact) {
    match held.iter_mut().find(|known| known.artifact_id == seen.artifact_id) {
        Some(known) if known.parts.len() > seen.parts.len() => {}
        Some(known) => *known = seen,
        None => held.push(seen),
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
