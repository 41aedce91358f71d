//! Reads the stream of a task as events of a chat. What was shown before is not shown again, however often the task is looked
//! at.

use std::collections::{HashMap, HashSet};

use openfang_types::event::{ArtifactUpdate, EventBody};
use openfang_types::ids::{ArtifactId, MessageId};
use openfang_types::task::{Artifact, Message, Part, Role, Task, TaskState};

use super::events::ChatEvent;
use crate::backend::StreamUpdate;
use crate::view::{artifact_text, message_text};

/// What was read of one task.
#[derive(Default)]
pub(super) struct TurnReader {
    task: Option<Task>,
    /// The bytes of each artifact that were shown.
    told: HashMap<ArtifactId, usize>,
    /// The messages of the agent that were shown.
    said: HashSet<MessageId>,
    /// Whether text came since the turn began, or since the last call.
    has_text: bool,
    pub(super) is_cut_off: bool,
}

impl TurnReader {
    /// A reader that knows what a task has said so far, and shows only what comes.
    pub(super) fn knowing(task: Task) -> Self {
        let mut reader = Self::default();
        drop(reader.take_snapshot(task));
        reader.has_text = false;
        reader
    }

    pub(super) fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// Whether the task has ended, or waits for its owner.
    pub(super) fn is_settled(&self) -> bool {
        let state = self.task.as_ref().map(|task| task.status.state);
        state.is_some_and(|state| state.is_terminal() || state.is_interrupted())
    }

    /// The events that an item of the stream stands for.
    pub(super) fn take(&mut self, update: StreamUpdate) -> Vec<ChatEvent> {
        match update {
            StreamUpdate::Task(task) => self.take_snapshot(*task),
            StreamUpdate::Message(message) => {
                vec![ChatEvent::Text { text: message_text(&message), again: false }, end(TaskState::Completed)]
            }
            StreamUpdate::Shutdown {} => {
                self.is_cut_off = true;
                Vec::new()
            }
            StreamUpdate::Event(event) => {
                let mut shown = Vec::new();
                match &event.body {
                    EventBody::Artifact(update) => shown.extend(self.piece(update)),
                    EventBody::Status(status) if status.state == TaskState::Working => {
                        shown.extend(status.message.iter().flat_map(|message| self.remarks(message)));
                    }
                    EventBody::Status(_) | EventBody::Message(_) => {}
                }
                if let Some(task) = &mut self.task {
                    task.apply(&event.body);
                }
                shown
            }
        }
    }

    /// A task as it stands: what of it was not shown yet.
    fn take_snapshot(&mut self, task: Task) -> Vec<ChatEvent> {
        let mut shown = Vec::new();
        let said = task.history.iter().chain(task.status.message.iter().filter(|_| is_working(&task)));
        for message in said.filter(|message| message.role == Role::Agent) {
            let remarks = self.remarks(message);
            // What was said on the way to an answer that is here already is old.
            shown.extend(
                remarks
                    .into_iter()
                    .filter(|remark| matches!(remark, ChatEvent::Call(_) | ChatEvent::Usage(_))),
            );
        }
        for artifact in task.artifacts.iter().filter(|artifact| !artifact.is_commentary()) {
            let text = artifact_text(artifact);
            let told = self.told.insert(artifact.artifact_id.clone(), text.len()).unwrap_or_default();
            if let Some(rest) = text.get(told..).filter(|rest| !rest.is_empty()) {
                self.has_text = true;
                shown.push(ChatEvent::Text { text: rest.to_owned(), again: false });
            }
        }
        self.task = Some(task);
        shown
    }

    fn piece(&mut self, update: &ArtifactUpdate) -> Option<ChatEvent> {
        let ArtifactUpdate { artifact, append, .. } = update;
        let text = artifact_text(artifact);
        // It was streamed as the beginning of an answer, unless answers are not streamed.
        if artifact.is_commentary() && self.has_text {
            self.has_text = false;
            return None;
        }
        let told = self.told.entry(artifact.artifact_id.clone()).or_default();
        let again = !append && *told > 0 && self.has_text && is_reply(artifact);
        *told = if *append { *told + text.len() } else { text.len() };
        if text.is_empty() {
            return None;
        }
        self.has_text = !artifact.is_commentary();
        Some(ChatEvent::Text { text, again })
    }

    /// What the agent says while it works.
    fn remarks(&mut self, message: &Message) -> Vec<ChatEvent> {
        if !self.said.insert(message.message_id.clone()) {
            return Vec::new();
        }
        message.parts.iter().filter_map(|part| self.remark(part)).collect()
    }

    fn remark(&mut self, part: &Part) -> Option<ChatEvent> {
        if let Some(tools) = part.as_beginning_calls() {
            return Some(ChatEvent::Calls { tools });
        }
        if let Some(call) = part.as_ended_call() {
            self.has_text = false;
            return Some(ChatEvent::Call(call));
        }
        if let Some(usage) = part.as_turn_usage() {
            return Some(ChatEvent::Usage(usage));
        }
        let text = part.as_text()?.to_owned();
        Some(if is_counted(part) { ChatEvent::Progress { text } } else { ChatEvent::Note { text } })
    }
}

/// Whether a part says how far something is. What a model loop says without a number, such as that another model goes on, is
/// worth a line of its own.
fn is_counted(part: &Part) -> bool {
    let progress = part.metadata.get("openfang/progress").and_then(|progress| progress.get("progress"));
    progress.is_some_and(serde_json::Value::is_number)
}

fn is_working(task: &Task) -> bool {
    task.status.state == TaskState::Working
}

fn is_reply(artifact: &Artifact) -> bool {
    artifact.name.as_deref() == Some("reply")
}

pub(super) const fn end(state: TaskState) -> ChatEvent {
    ChatEvent::End { state, text: None }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
