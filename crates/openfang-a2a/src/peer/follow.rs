//! The known state of a peer's task, merged from answers, streamed events and fetches.
//!
//! Three things are never assumed: that an event in our stream is about our task, that a task may continue after it has
//! ended, and that a stream is complete.

use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::TaskName;
use openfang_types::limits::A2A_CLIENT_HISTORY;
use openfang_types::task::{Artifact, Message, Part, TaskStatus};

use super::{PeerEvent, PeerTask};

/// A peer's task with everything received about it so far.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedTask {
    task: PeerTask,
    /// Whether events may have been missed since the whole task was last received.
    has_gap: bool,
}

/// One difference between what was known of a task and what is known now.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    Status(TaskStatus),
    /// A new artifact, a further chunk, or an artifact that replaces the known one.
    Artifact(ArtifactUpdate),
    /// A message that is not the status.
    Message(Box<Message>),
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

    /// Whether the task must be fetched again: its stream was interrupted, it ended without a result, or it waits for
    /// input without saying for what.
    pub fn needs_fetch(&self) -> bool {
        let (state, is_silent) = (self.task.status.state, self.task.status.message.is_none());
        let is_empty = state.is_terminal() && self.task.artifacts.is_empty();
        self.has_gap || (is_silent && (is_empty || state.is_interrupted()))
    }

    /// Applies one event to the task and returns what changed.
    pub fn apply(&mut self, event: PeerEvent) -> Result<Vec<TaskChange>, WrongTask> {
        match event {
            PeerEvent::Task(task) => self.merge(*task, Trust::Longer),
            PeerEvent::Message(said) => {
                self.check(said.task.as_ref())?;
                self.remember(said.message.clone());
                Ok(vec![TaskChange::Message(Box::new(said.message))])
            }
            PeerEvent::Status(changed) => {
                self.check(changed.task.as_ref())?;
                // The first terminal state is final: some peers turn a completed task into a canceled one.
                if self.task.status.state.is_terminal() {
                    return Ok(Vec::new());
                }
                if let Some(said) = self.task.status.message.take() {
                    self.remember(said);
                }
                self.task.status = changed.status;
                Ok(vec![TaskChange::Status(self.task.status.clone())])
            }
            PeerEvent::Artifact(brought) => {
                self.check(brought.task.as_ref())?;
                // A terminal state ends a task, so nothing is added to it.
                if self.task.status.state.is_terminal() {
                    return Ok(Vec::new());
                }
                let (update, held) = (brought.update, &mut self.task.artifacts);
                let known = held.iter_mut().find(|known| known.artifact_id == update.artifact.artifact_id);
                match known {
                    Some(known) if update.append => known.parts.extend(update.artifact.parts.iter().cloned()),
                    Some(known) => *known = update.artifact.clone(),
                    None => held.push(update.artifact.clone()),
                }
                Ok(vec![TaskChange::Artifact(update)])
            }
        }
    }

    /// Applies a freshly fetched task, which closes any gap, and returns what changed.
    pub fn fetched(&mut self, task: PeerTask) -> Result<Vec<TaskChange>, WrongTask> {
        // After a gap, the stream may have repeated or skipped chunks. The ended task is what counts.
        let trust = match self.has_gap && task.status.state.is_terminal() {
            true => Trust::Fetched,
            false => Trust::Longer,
        };
        let changes = self.merge(task, trust)?;
        self.has_gap = false;
        Ok(changes)
    }

    /// Merges the known task with the received one. Of each list the longer one is kept, because either may be
    /// truncated. Artifacts come before the status, so that an end is the last change.
    fn merge(&mut self, seen: PeerTask, trust: Trust) -> Result<Vec<TaskChange>, WrongTask> {
        self.check(Some(&seen.id))?;
        let mut changes: Vec<TaskChange> = Vec::new();
        for artifact in seen.artifacts {
            changes.extend(merge_artifact(&mut self.task.artifacts, artifact, trust).map(TaskChange::Artifact));
        }
        let known = &mut self.task.status;
        let is_open = !known.state.is_terminal();
        if is_open && !is_same(known, &seen.status) {
            *known = seen.status;
            changes.push(TaskChange::Status(known.clone()));
        } else if !is_open && known.message.is_none() && seen.status.state == known.state {
            known.message = seen.status.message;
        }
        if seen.history.len() >= self.task.history.len() {
            self.task.history = seen.history;
        }
        if self.task.context_id.is_none() {
            self.task.context_id = seen.context_id;
        }
        self.task.metadata.extend(seen.metadata);
        Ok(changes)
    }

    /// Adds a message to the history, which keeps the newest ones.
    fn remember(&mut self, message: Message) {
        if self.task.history.len() >= A2A_CLIENT_HISTORY {
            self.task.history.remove(0);
        }
        self.task.history.push(message);
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

/// Which of two versions of an artifact counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The one with more content.
    Longer,
    /// The one that was fetched.
    Fetched,
}

/// Whether two statuses say the same, whenever they say it.
fn is_same(known: &TaskStatus, seen: &TaskStatus) -> bool {
    let parts = |status: &TaskStatus| status.message.as_ref().map(|message| message.parts.clone());
    known.state == seen.state && (seen.message.is_none() || parts(known) == parts(seen))
}

/// Merges an artifact with the known one of the same id and returns what is new.
fn merge_artifact(held: &mut Vec<Artifact>, seen: Artifact, trust: Trust) -> Option<ArtifactUpdate> {
    let Some(known) = held.iter_mut().find(|known| known.artifact_id == seen.artifact_id) else {
        held.push(seen.clone());
        return Some(ArtifactUpdate { artifact: seen, append: false, last_chunk: false });
    };
    let parts = known.parts.len();
    if seen.parts.is_empty() && parts > 0 {
        return None;
    }
    if seen.parts.len() < parts && trust == Trust::Longer {
        // A server that joins the chunks of a text has fewer parts with the same content.
        let is_longer = text_bytes(&seen.parts)
            .zip(text_bytes(&known.parts))
            .is_some_and(|(seen, known)| seen > known);
        if !is_longer {
            return None;
        }
    } else if seen.parts.get(..parts) == Some(known.parts.as_slice()) {
        if seen.parts.len() == parts {
            *known = seen;
            return None;
        }
        let news = seen.parts.get(parts..).unwrap_or_default().to_vec();
        let artifact = Artifact { parts: news, ..seen.clone() };
        *known = seen;
        return Some(ArtifactUpdate { artifact, append: true, last_chunk: false });
    }
    *known = seen.clone();
    Some(ArtifactUpdate { artifact: seen, append: false, last_chunk: false })
}

/// The length of the text; none if there is anything else.
fn text_bytes(parts: &[Part]) -> Option<usize> {
    parts.iter().map(|part| part.as_text().map(str::len)).sum()
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
