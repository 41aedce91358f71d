//! What happens to a task, in order. A blocking answer, a stream, a poll and a push are views of this one log.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::task::{Artifact, Message, Part, Task, TaskState, TaskStatus};

/// The place of an event in its task's log. The first one is 1; 0 stands for "before all".
pub type Seq = u64;

/// One entry of a task's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskEvent {
    pub task_id: TaskId,
    pub seq: Seq,
    /// When it was written.
    pub at: Timestamp,
    pub body: EventBody,
}

impl TaskEvent {
    /// The id a stream gives to this event, so that a reader can resume after it.
    pub fn stream_id(&self) -> String {
        EventId { task: self.task_id, seq: self.seq }.to_string()
    }
}

/// The id of an event in a stream: `task:seq`. Readers name the last one that they have in `Last-Event-ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId {
    pub task: TaskId,
    pub seq: Seq,
}

/// A text that is not the id of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an event")]
pub struct NotAnEventId;

impl EventId {
    /// The place in the log of this task; none where the event is another task's.
    pub fn of(self, task: TaskId) -> Option<Seq> {
        (self.task == task).then_some(self.seq)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.task, self.seq)
    }
}

impl FromStr for EventId {
    type Err = NotAnEventId;

    fn from_str(text: &str) -> Result<Self, NotAnEventId> {
        let (task, seq) = text.rsplit_once(':').ok_or(NotAnEventId)?;
        Ok(Self { task: task.parse().map_err(|_| NotAnEventId)?, seq: seq.parse().map_err(|_| NotAnEventId)? })
    }
}

/// What somebody who follows a task is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// The task as it stands after this many events.
    Snapshot(Box<Task>, Seq),
    Event(Box<TaskEvent>),
    /// The server is stopping and nothing works on the task: follow it again later.
    Shutdown,
}

/// What ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The end of the task.
    Ended,
    /// The end of the task, or its asking for something.
    Settled,
}

impl Until {
    /// Whether a task in this state ends the stream.
    pub const fn is_reached(self, state: TaskState) -> bool {
        match self {
            Self::Ended => state.is_terminal(),
            Self::Settled => state.is_terminal() || state.is_interrupted(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EventBody {
    /// A turn was added to the conversation.
    Message(Message),
    /// The state, or what the agent says about it, changed.
    Status(TaskStatus),
    /// An artifact came, or grew.
    Artifact(ArtifactUpdate),
}

impl EventBody {
    /// The state this event leads to, if it is a change of state.
    pub const fn state(&self) -> Option<TaskState> {
        match self {
            Self::Status(status) => Some(status.state),
            Self::Message(_) | Self::Artifact(_) => None,
        }
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Self::Message(message) => message.size(),
            Self::Status(status) => status.message.as_ref().map_or(0, Message::size),
            Self::Artifact(update) => update.artifact.parts.iter().map(Part::size).sum(),
        }
    }

    /// The word that names the event on a stream.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Status(_) => "status",
            Self::Artifact(_) => "artifact",
        }
    }
}

/// An artifact, or a further chunk of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactUpdate {
    /// The artifact, or the chunk of it.
    pub artifact: Artifact,
    /// Whether the parts join those already there.
    pub append: bool,
    /// Whether nothing more follows.
    pub last_chunk: bool,
}
