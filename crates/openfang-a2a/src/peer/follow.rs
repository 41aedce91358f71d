//! A peer's task as it is known so far: what was answered, streamed and fetched, folded into one.
//!
//! Three things are never believed: that an event is about our task because it came in our stream, that a task goes on
//! after it has ended, and that a stream brought everything.

use openfang_types::ids::TaskName;
use openfang_types::task::Artifact;

use super::{PeerEvent, PeerTask};

/// A peer's task that is being followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    task: PeerTask,
    /// Whether something may have been missed since the task was last seen whole.
    has_gap: bool,
}

/// Something that is not about the task that is followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the agent answered with the task {found} instead of {expected}")]
pub struct Stray {
    /// The task that is followed.
    pub expected: TaskName,
    /// The task that the peer named.
    pub found: TaskName,
}

impl Followed {
    /// Follows a task from where it stands.
    pub const fn new(task: PeerTask) -> Self {
        Self { task, has_gap: false }
    }

    /// The task as it is known.
    pub const fn task(&self) -> &PeerTask {
        &self.task
    }

    /// The stream was cut and taken up again: the peer may not repeat what happened in between.
    pub const fn resumed(&mut self) {
        self.has_gap = true;
    }

    /// Whether the task must be fetched once more before it counts as known: it was resumed, or it ended without
    /// anything that could be its result.
    pub fn needs_fetch(&self) -> bool {
        let is_empty = self.task.artifacts.is_empty() && self.task.status.message.is_none();
        self.has_gap || (self.task.status.state.is_terminal() && is_empty)
    }

    /// Folds one event in.
    pub fn take(&mut self, event: PeerEvent) -> Result<(), Stray> {
        match event {
            PeerEvent::Task(task) => self.merge(*task),
            PeerEvent::Message(said) => {
                self.check(said.task.as_ref())?;
                self.task.history.push(said.message);
                Ok(())
            }
            PeerEvent::Status(changed) => {
                self.check(changed.task.as_ref())?;
                // The first end that was seen stays: some peers turn a completed task into a canceled one.
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

    /// The task was fetched; nothing is missing any more.
    pub fn fetched(&mut self, task: PeerTask) -> Result<(), Stray> {
        self.merge(task)?;
        self.has_gap = false;
        Ok(())
    }

    /// Joins what is known with what the peer shows; of each the longer one is kept, because either may be cut.
    fn merge(&mut self, seen: PeerTask) -> Result<(), Stray> {
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

    fn check(&self, named: Option<&TaskName>) -> Result<(), Stray> {
        match named {
            Some(found) if *found != self.task.id => {
                Err(Stray { expected: self.task.id.clone(), found: found.clone() })
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
