//! One's own tasks as resources: `openfang://tasks/{id}`, and their artifacts below.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use futures_util::stream::{self, SelectAll};
use openfang_mcp::McpError;
use openfang_mcp::content::{Completion, ResourceContents};
use openfang_mcp::host::{Change, ChangeFilter, Changes, Completing, CompletionOf, ResourcePage};
use openfang_mcp::listing::Entry;
use openfang_runtime::mcp_server::raw;
use openfang_types::ids::TaskId;
use openfang_types::task::{Artifact, Part, PartBody, Task, TaskParts};
use serde_json::{Value, json};

use super::host::KernelHost;
use super::{DoorError, events, results};
use crate::Caller;

const TASKS: &str = "openfang://tasks/";
const ARTIFACTS: &str = "/artifacts/";
const TASK_TEMPLATE: &str = "openfang://tasks/{id}";
const ARTIFACT_TEMPLATE: &str = "openfang://tasks/{id}/artifacts/{n}";

/// What a uri points at.
enum TaskUri {
    Task(TaskId),
    Artifact(TaskId, usize),
}

impl TaskUri {
    fn of(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(TASKS)?;
        match rest.split_once(ARTIFACTS) {
            None => rest.parse().ok().map(Self::Task),
            Some((id, number)) => {
                // One spelling for each artifact, so that what is watched is what is read.
                let number = number.parse::<usize>().ok().filter(|parsed| parsed.to_string() == number)?;
                Some(Self::Artifact(id.parse().ok()?, number))
            }
        }
    }

    const fn task(&self) -> TaskId {
        match self {
            Self::Task(id) | Self::Artifact(id, _) => *id,
        }
    }
}

/// Whether a URI is one of tasks, whoever's they are.
pub(super) fn are_at(uri: &str) -> bool {
    uri.starts_with(TASKS)
}

pub(super) async fn list(host: &KernelHost, caller: &Caller, cursor: Option<&str>) -> Result<ResourcePage, McpError> {
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let (tasks, next_cursor) = host.tasks(caller, cursor, TaskParts::ROW).await?;
    let resource = |task: &Task| {
        raw(&json!({
            "uri": format!("{TASKS}{}", task.id),
            "name": format!("task {}", task.id),
            "description": format!("A task of the agent {}, {}", task.agent, task.status.state),
            "mimeType": "application/json",
        }))
    };
    let is_first = cursor.is_none();
    let published = (is_first && events::has_any(host, caller).await).then(|| raw(&events::resource()));
    Ok(ResourcePage { resources: published.into_iter().chain(tasks.iter().map(resource)).collect(), next_cursor })
}

pub(super) fn templates() -> Vec<Entry> {
    let entry = |name: &str, template: &str, about: &str| {
        Entry::new(name, raw(&json!({ "name": name, "uriTemplate": template, "description": about })))
    };
    vec![
        entry("task", TASK_TEMPLATE, "One of your tasks: its state, its messages and what came of it"),
        entry("task-artifact", ARTIFACT_TEMPLATE, "What a task made; n counts from 0"),
        entry("result", results::TEMPLATE, "What was cut from a result of a tool, or left out; kept for a while"),
    ]
}

pub(super) async fn read(host: &KernelHost, caller: &Caller, uri: &str) -> Result<ResourceContents, McpError> {
    let unknown = || McpError::unknown_resource(uri);
    let place = TaskUri::of(uri).ok_or_else(unknown)?;
    let task = match host.task(caller, place.task()).await {
        Ok(task) => task,
        Err(DoorError::Unknown) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    match place {
        TaskUri::Task(_) => {
            let text = serde_json::to_string_pretty(&task).map_err(|_| McpError::Internal)?;
            Ok(ResourceContents::text(uri, "application/json", &text))
        }
        TaskUri::Artifact(_, number) => {
            let artifact = task.artifacts.get(number).ok_or_else(unknown)?;
            Ok(ResourceContents::of(&contents(uri, artifact)))
        }
    }
}

fn contents(uri: &str, artifact: &Artifact) -> Vec<Value> {
    let content = |part: &Part| {
        let media = part.media_type.as_deref();
        match &part.body {
            PartBody::Text(text) => json!({ "uri": uri, "mimeType": media.unwrap_or("text/plain"), "text": text }),
            PartBody::Data(value) => {
                json!({ "uri": uri, "mimeType": media.unwrap_or("application/json"), "text": value.to_string() })
            }
            PartBody::Url(url) => json!({ "uri": uri, "mimeType": "text/uri-list", "text": url }),
            PartBody::Raw(bytes) => {
                let media = media.unwrap_or("application/octet-stream");
                json!({ "uri": uri, "mimeType": media, "blob": STANDARD.encode(bytes) })
            }
        }
    };
    artifact.parts.iter().map(content).collect()
}

/// Task ids can be completed; what to say to an agent cannot.
pub(super) async fn complete(
    host: &KernelHost,
    caller: &Caller,
    asked: Completing<'_>,
) -> Result<Completion, McpError> {
    let is_id = matches!(asked.of, CompletionOf::Template(TASK_TEMPLATE | ARTIFACT_TEMPLATE)) && asked.argument == "id";
    if !is_id {
        return Ok(Completion { total: Some(0), has_more: Some(false), ..Completion::default() });
    }
    let (tasks, next) = host.tasks(caller, None, TaskParts::ROW).await?;
    let ids = tasks.iter().map(|task| task.id.to_string());
    let values: Vec<String> = ids.filter(|id| id.starts_with(asked.value)).collect();
    Ok(Completion { values, total: None, has_more: Some(next.is_some()) })
}

/// Tells when one of the wanted tasks changes. Agents are prompts, and tools too.
pub(super) fn changes(host: &KernelHost, caller: &Caller, wanted: &ChangeFilter) -> Changes {
    let mut all = SelectAll::new();
    if wanted.tools {
        all.push(host.doors.tool_changes().map(|()| Change::Tools).boxed());
    }
    if wanted.prompts {
        all.push(host.agent_changes().map(|()| Change::Prompts).boxed());
    }
    for uri in &wanted.uris {
        if uri == events::URI {
            all.push(events::changes(host, caller));
        }
        if let Some(place) = TaskUri::of(uri) {
            let uri = uri.clone();
            let ticks = host.follow(caller, place.task());
            all.push(ticks.map(move |()| Change::Resource(uri.clone())).boxed());
        }
    }
    // A stream that ends would say that nothing can change any more; more tasks may be watched elsewhere.
    Box::pin(all.chain(stream::pending()))
}
