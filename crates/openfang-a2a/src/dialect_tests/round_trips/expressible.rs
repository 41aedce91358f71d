//! The model without what a dialect cannot express.

use openfang_types::task::{Artifact, Message, Role, Task, TaskState, TaskStatus};
use serde_json::Map;

use super::super::super::samples::TASK;
use super::super::super::*;
use super::{laws, now};
use crate::peer::PeerTask;

pub(super) fn is_old(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::V01 | Dialect::OpenFang)
}

fn kept_state(dialect: Dialect, state: TaskState) -> TaskState {
    match state {
        TaskState::Rejected if is_old(dialect) => TaskState::Failed,
        TaskState::AuthRequired if is_old(dialect) => TaskState::InputRequired,
        other => other,
    }
}

fn kept_message(dialect: Dialect, message: &Message) -> Message {
    let mut kept = laws::kept(dialect, message);
    kept.context_id = Some("c-1".parse().unwrap()).filter(|_| !is_old(dialect));
    if is_old(dialect) {
        kept.message_id = "m".parse().unwrap();
    }
    if dialect == Dialect::OpenFang {
        kept.metadata.clear();
    }
    kept
}

pub(super) fn kept_status(dialect: Dialect, status: &TaskStatus) -> TaskStatus {
    TaskStatus {
        state: kept_state(dialect, status.state),
        message: status.message.as_ref().map(|message| kept_message(dialect, message)),
        timestamp: if dialect == Dialect::OpenFang { now() } else { status.timestamp },
    }
}

pub(super) fn kept_artifact(dialect: Dialect, index: usize, artifact: &Artifact) -> Artifact {
    let message = Message::of_parts("m".parse().unwrap(), Role::Agent, artifact.parts.clone());
    let mut kept = Artifact { parts: laws::kept(dialect, &message).parts, ..artifact.clone() };
    if is_old(dialect) {
        kept.artifact_id = format!("{TASK}-{index}").parse().unwrap();
        kept.extensions.clear();
    }
    if dialect == Dialect::OpenFang {
        kept.name = kept.name.or_else(|| Some(artifact.artifact_id.to_string()));
        (kept.description, kept.metadata) = (None, Map::new());
    }
    kept.name = kept.name.filter(|name| !name.is_empty());
    kept.description = kept.description.filter(|text| !text.is_empty());
    kept
}

pub(super) fn kept_task(dialect: Dialect, task: &Task) -> PeerTask {
    let artifacts = task.artifacts.iter().enumerate();
    let mut kept = PeerTask {
        id: TASK.parse().unwrap(),
        context_id: Some(task.context_id.clone()),
        status: kept_status(dialect, &task.status),
        history: task.history.iter().map(|message| kept_message(dialect, message)).collect(),
        artifacts: artifacts.map(|(index, artifact)| kept_artifact(dialect, index, artifact)).collect(),
        metadata: Map::new(),
    };
    if dialect == Dialect::OpenFang {
        flatten(&mut kept);
    }
    kept
}

/// OpenFang's dialect has a single list of messages.
fn flatten(task: &mut PeerTask) {
    task.history.extend(task.status.message.take());
}

/// The task as read, without generated and descriptive members.
pub(super) fn read_task(dialect: Dialect, mut task: PeerTask) -> PeerTask {
    task.metadata.clear();
    let messages = task.history.iter_mut().chain(&mut task.status.message);
    messages
        .filter(|_| is_old(dialect))
        .for_each(|message| message.message_id = "m".parse().unwrap());
    if dialect == Dialect::OpenFang {
        flatten(&mut task);
    }
    task
}
