//! What a peer is told, before it is put into its dialect.

use openfang_types::event::{EventBody, StreamItem};
use openfang_types::ids::{ArtifactId, TaskName};
use openfang_types::task::{Message, Origin, Task};
use serde_json::value::RawValue;

use crate::operation::{History, NewPush};

/// A task, with what its maker calls it.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The task.
    pub task: Task,
    /// In whose dialect it was made.
    pub origin: Origin,
    /// What its maker calls it, where that is not for us to say.
    pub peer_name: Option<TaskName>,
}

/// What a request led to.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A message led to this task.
    Sent(Box<Held>, History),
    /// A message was answered without a task.
    Replied(Box<Message>),
    /// A task.
    Task(Box<Held>, History),
    /// A page of tasks.
    Tasks(Page),
    /// A push configuration.
    Push(Box<Push>),
    /// The push configurations of a task.
    Pushes(Vec<Push>),
    /// Something was taken away.
    Gone,
    /// A card, ready made.
    Card(Box<RawValue>),
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct Page {
    /// Latest change first.
    pub tasks: Vec<Held>,
    /// Leads to the next page; empty at the end.
    pub next_page_token: String,
    /// How many fit on a page.
    pub page_size: usize,
    /// How many there are on all pages.
    pub total: usize,
    /// How much of each history is shown.
    pub history: History,
    /// Whether artifacts are shown.
    pub include_artifacts: bool,
}

/// A push configuration as it is kept. Its secrets are shown to its owner, as the protocol wants it.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// What it is called.
    pub id: String,
    /// Whose it is, as its maker calls the task.
    pub task: String,
    /// The rest.
    pub config: NewPush,
}

/// Whose events a stream shows.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamHead {
    /// The task, as its maker calls it.
    pub task: String,
    /// The conversation.
    pub context: String,
    /// How much of the history snapshots show.
    pub history: History,
    /// The artifacts so far, in the order in which they came: in 0.1 an event names one by its place among them.
    pub artifacts: Vec<ArtifactId>,
}

impl StreamHead {
    /// Remembers the artifacts that something brings.
    pub(crate) fn take_note(&mut self, item: &StreamItem) {
        match item {
            StreamItem::Snapshot(task, _) => self.artifacts = artifacts_of(task),
            StreamItem::Event(event) => {
                if let EventBody::Artifact(update) = &event.body
                    && !self.artifacts.contains(&update.artifact.artifact_id)
                {
                    self.artifacts.push(update.artifact.artifact_id.clone());
                }
            }
            StreamItem::Shutdown => {}
        }
    }

    /// The place of an artifact in its task.
    pub(crate) fn place_of(&self, artifact: &ArtifactId) -> usize {
        let place = self.artifacts.iter().position(|known| known == artifact);
        place.unwrap_or(self.artifacts.len())
    }
}

/// The artifacts of a task, by their ids.
pub(crate) fn artifacts_of(task: &Task) -> Vec<ArtifactId> {
    task.artifacts.iter().map(|artifact| artifact.artifact_id.clone()).collect()
}

/// One thing that a stream shows.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// A message, and nothing else.
    Reply(&'a Message),
    /// What happens to a task.
    Item(&'a StreamHead, &'a StreamItem),
}

impl Held {
    /// What its maker calls it.
    pub fn name(&self) -> String {
        self.peer_name
            .as_ref()
            .map_or_else(|| self.task.id.to_string(), |name| name.as_str().to_owned())
    }
}
