//! How much of a task is read, and how large it is.

use super::{Message, Part, Task};

/// How much of each task a list reads. The id, the agent, the context and the state are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskParts {
    /// What the agent says about the state.
    pub status_message: bool,
    /// The messages of both sides, and the states the task has been in.
    pub history: bool,
    /// What came of it.
    pub artifacts: bool,
}

impl TaskParts {
    /// Nothing of any length.
    pub const ROW: Self = Self { status_message: false, history: false, artifacts: false };
    /// The status with its message.
    pub const STATUS: Self = Self { status_message: true, ..Self::ROW };
    pub const ALL: Self = Self { status_message: true, history: true, artifacts: true };

    /// Whether the task's row says it all, and its events need not be read.
    pub const fn is_head(self) -> bool {
        !self.history && !self.artifacts
    }
}

impl Default for TaskParts {
    fn default() -> Self {
        Self::STATUS
    }
}

impl Task {
    /// Drops every part but these.
    pub fn keep(&mut self, parts: TaskParts) {
        if !parts.status_message {
            self.status.message = None;
        }
        if !parts.history {
            self.history = Vec::new();
            self.transitions = Vec::new();
        }
        if !parts.artifacts {
            self.artifacts = Vec::new();
        }
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        let messages = self.history.iter().chain(&self.status.message).map(Message::size);
        let parts = self.artifacts.iter().flat_map(|artifact| &artifact.parts).map(Part::size);
        messages.chain(parts).sum()
    }
}
