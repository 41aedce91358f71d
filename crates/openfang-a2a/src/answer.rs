//! Answers to a peer, before they are encoded in its dialect.

use openfang_types::event::{EventBody, StreamItem};
use openfang_types::ids::{ArtifactId, TaskName};
use openfang_types::task::{Message, Origin, Task};
use serde_json::value::RawValue;

use crate::operation::{HistoryLength, PushNotificationConfig};

/// A task together with the name its creator gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTask {
    pub task: Task,
    /// The dialect in which the task was created.
    pub origin: Origin,
    /// The creator's own name for the task. None if we chose the id.
    pub peer_name: Option<TaskName>,
}

/// The result of a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The task that a message created or continued.
    Sent(Box<NamedTask>, HistoryLength),
    /// A message that was answered without a task.
    Replied(Box<Message>),
    /// The task that was asked for.
    Task(Box<NamedTask>, HistoryLength),
    /// A page of tasks.
    Tasks(ListTasksResponse),
    /// One push configuration of a task.
    Push(Box<TaskPushConfig>),
    /// The push configurations of a task.
    Pushes(Vec<TaskPushConfig>),
    /// A push configuration was deleted.
    Gone,
    /// A card as encoded JSON.
    Card(Box<RawValue>),
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct ListTasksResponse {
    /// Sorted by their latest change, newest first.
    pub tasks: Vec<NamedTask>,
    /// The token of the next page; empty on the last page.
    pub next_page_token: String,
    /// The maximum number of tasks on a page.
    pub page_size: usize,
    /// The number of tasks on all pages.
    pub total: usize,
    /// How much of each task's history is included.
    pub history: HistoryLength,
    /// Whether artifacts are included.
    pub include_artifacts: bool,
}

/// A stored push configuration. The protocol lets its owner read its secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPushConfig {
    /// The id of the configuration.
    pub id: String,
    /// The task it belongs to, under the name its creator gave it.
    pub task: String,
    /// The URL and the credentials.
    pub config: PushNotificationConfig,
}

/// The task whose events a stream carries.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamHead {
    /// The task, under the name its creator gave it.
    pub task: String,
    /// The id of the conversation.
    pub context: String,
    /// How much of the history a snapshot includes.
    pub history: HistoryLength,
    /// The artifacts so far, in order of arrival. An event of 0.1 refers to an artifact by its index in this list.
    pub artifacts: Vec<ArtifactId>,
}

impl StreamHead {
    /// Records the artifacts that a stream item brings.
    pub(crate) fn record_artifacts(&mut self, item: &StreamItem) {
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

    /// The index of an artifact in its task.
    pub(crate) fn index_of(&self, artifact: &ArtifactId) -> usize {
        let place = self.artifacts.iter().position(|known| known == artifact);
        place.unwrap_or(self.artifacts.len())
    }
}

/// The ids of a task's artifacts.
pub(crate) fn artifacts_of(task: &Task) -> Vec<ArtifactId> {
    task.artifacts.iter().map(|artifact| artifact.artifact_id.clone()).collect()
}

/// One event of a stream.
#[derive(Debug, Clone, Copy)]
pub enum StreamEvent<'a> {
    /// A message that is the whole answer.
    Reply(&'a Message),
    /// A change of a task.
    Item(&'a StreamHead, &'a StreamItem),
}

impl NamedTask {
    /// The task's name for its creator.
    pub fn name(&self) -> String {
        self.peer_name
            .as_ref()
            .map_or_else(|| self.task.id.to_string(), |name| name.as_str().to_owned())
    }
}
