//! Reads tasks, artifacts and task lists from peers.

use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ArtifactId, IdError, TaskName};
use openfang_types::task::{Artifact, Message, Part, Role, TaskState, TaskStatus};
use serde_json::Value;

use super::members::MemberReader;
use super::status::{CONTEXT, TASK};
use super::{Context, message, part, shape, status};
use crate::dialect::read::{ReadResult, under};
use crate::error::A2aError;
use crate::peer::{PeerArtifact, PeerPage, PeerTask};

/// A task, with or without a wrapper.
pub(super) fn of(context: Context<'_>, value: Value) -> ReadResult<PeerTask> {
    let members = MemberReader::of(value)?.rest();
    read(context, shape::unwrapped_task(members))
}

pub(super) fn read(context: Context<'_>, mut members: MemberReader) -> ReadResult<PeerTask> {
    let id: Option<TaskName> = members.name(&["id", "taskId", "task_id"])?.or_else(|| context.reading.task.cloned());
    let id = id.ok_or_else(|| A2aError::invalid("id", "the task has no id"))?;
    let given = members.take(&["status"]);
    let is_flat = given.as_ref().is_some_and(Value::is_string);
    let mut status = status::read(context, given).map_err(under("status"))?;
    let artifacts = members.list(&["artifacts"])?.into_iter().enumerate();
    let artifacts = artifacts.map(|(at, value)| {
        let members = MemberReader::of(value).map_err(|error| under(&format!("artifacts[{at}]"))(error))?;
        artifact(context, &id, at, members).map_err(|error| under(&format!("artifacts[{at}]"))(error))
    });
    let artifacts = artifacts.collect::<ReadResult<Vec<_>>>()?;
    let history = members.list(&["history", "messages"])?.into_iter().enumerate();
    let history = history
        .map(|(at, value)| message::said(context, value).map_err(|error| under(&format!("history[{at}]"))(error)));
    let mut history = history.collect::<ReadResult<Vec<_>>>()?;
    if is_flat {
        say_status(&mut status, &mut history, &artifacts);
    }
    let context_id = members.name(CONTEXT)?;
    Ok(PeerTask { id, context_id, status, history, artifacts, metadata: members.metadata() })
}

/// A flat status has no message, so the agent's last turn becomes its message. A turn that only repeats the texts of
/// the artifacts is skipped.
fn say_status(status: &mut TaskStatus, history: &mut Vec<Message>, artifacts: &[Artifact]) {
    let is_settled = status.state.is_terminal() || status.state.is_interrupted();
    if !is_settled || history.last().is_none_or(|last| last.role != Role::Agent) {
        return;
    }
    let texts = artifacts.iter().flat_map(|artifact| &artifact.parts).filter_map(Part::as_text);
    let is_repeated = status.state == TaskState::Completed
        && history.last().is_some_and(|last| {
            !last.parts.is_empty()
                && last.parts.iter().all(|part| part.as_text().is_some())
                && texts.eq(last.parts.iter().filter_map(Part::as_text))
        });
    status.message = history.pop().filter(|_| !is_repeated);
}

/// An artifact; `at` is its index in the task.
fn artifact(context: Context<'_>, task: &TaskName, at: usize, mut members: MemberReader) -> ReadResult<Artifact> {
    let index = members.count(&["index"]).unwrap_or(at);
    let id = members.name(&["artifactId", "artifact_id", "id"]).ok().flatten();
    Ok(Artifact {
        description: members.text(&["description"]),
        metadata: members.metadata(),
        extensions: members.texts(&["extensions"]),
        ..Artifact::of_parts(
            id.map_or_else(|| made_up(task, index), Ok)?,
            members.text(&["name"]),
            part::list(context.dialect, &mut members)?,
        )
    })
}

/// An id for an artifact without one. The same index in the same task gives the same id.
fn made_up(task: &TaskName, index: usize) -> ReadResult<ArtifactId> {
    let named = format!("{task}-{index}").parse().or_else(|_| format!("artifact-{index}").parse());
    named.map_err(|error: IdError| A2aError::invalid("artifactId", error.to_string()))
}

/// A new artifact or a chunk. In 0.1 the chunk itself has the flags.
pub(super) fn artifact_update(context: Context<'_>, mut members: MemberReader) -> ReadResult<PeerArtifact> {
    let task: Option<TaskName> = members.name(TASK)?.or_else(|| context.reading.task.cloned());
    let inner = members.take(&["artifact"]).unwrap_or_default();
    let mut inner = MemberReader::of(inner).map_err(under("artifact"))?;
    let append = inner.flag(&["append"]) | members.flag(&["append"]);
    let last = &["lastChunk", "last_chunk"];
    let last_chunk = inner.flag(last) | members.flag(last);
    let unnamed = || "task".parse::<TaskName>().map_err(|_| A2aError::Internal);
    let named = task.clone().map_or_else(unnamed, Ok)?;
    let artifact = artifact(context, &named, 0, inner).map_err(under("artifact"))?;
    let update = ArtifactUpdate { artifact, append, last_chunk };
    Ok(PeerArtifact { task, context_id: members.name(CONTEXT)?, update })
}

/// A page of tasks, or a plain list.
pub(super) fn page(context: Context<'_>, value: Value) -> ReadResult<PeerPage> {
    let mut members = match value {
        Value::Array(tasks) => {
            MemberReader::from(serde_json::Map::from_iter([("tasks".to_owned(), Value::Array(tasks))]))
        }
        value => MemberReader::of(value)?,
    };
    let tasks = members.list(&["tasks"])?.into_iter().enumerate();
    let tasks = tasks.map(|(at, value)| of(context, value).map_err(|error| under(&format!("tasks[{at}]"))(error)));
    Ok(PeerPage {
        tasks: tasks.collect::<ReadResult<Vec<_>>>()?,
        next_page_token: members.text(&["nextPageToken", "next_page_token"]),
        page_size: members.count(&["pageSize", "page_size"]),
        total: members.count(&["totalSize", "total_size"]),
    })
}
