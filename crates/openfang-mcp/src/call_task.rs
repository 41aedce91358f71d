//! A call that became a task: what a host knows of it, and how each generation of the protocol writes it.
//!
//! ```text
//!                       2025-11-25 (core)                    2026-07-28 (extension io.modelcontextprotocol/tasks)
//! the call asks for it  `task` in the parameters             the client declares the extension
//! its first answer      {task: {..}}                         {resultType: "task", ..}
//! how it stands         tasks/get, without result            tasks/get, with result, error or questions
//! its result            tasks/result, which waits            tasks/get
//! its questions         requests while tasks/result waits    tasks/get, answered by tasks/update
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::call::InputRequest;
use openfang_types::content::ToolOutput;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::content::{raw, shown_call};
use crate::error::McpError;
use crate::revision::{Revision, TaskMethods};

/// The extension by which calls of the modern era become tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// What ties a result to its task, in `_meta` of the legacy era.
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// A call that became a task.
#[derive(Debug, Clone)]
pub struct CallTask {
    /// What it is asked for by. Whoever has begun it may know it, and nobody else.
    pub id: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// How long it is kept from its creation on.
    pub ttl: Duration,
    /// How often to look.
    pub poll: Duration,
    /// What is going on, for people.
    pub message: Option<String>,
    pub state: CallTaskState,
}

/// How a task stands.
#[derive(Debug, Clone)]
pub enum CallTaskState {
    Working,
    /// The client is asked for this, each question under its own key.
    InputRequired(BTreeMap<String, InputRequest>),
    /// The call has its result; that a tool failed is one too.
    Completed(Box<ToolOutput>),
    /// The call has no result.
    Failed(McpError),
    Canceled,
}

impl CallTaskState {
    /// Whether nothing more happens to it.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Canceled)
    }

    const fn word(&self, methods: TaskMethods) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired(_) => "input_required",
            // In its first generation a task whose tool failed has failed.
            Self::Completed(output) if output.is_error && matches!(methods, TaskMethods::Core) => "failed",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Canceled => "cancelled",
        }
    }
}

/// A question as it stands in a result.
#[derive(Serialize)]
pub(crate) struct ShownQuestion<'a> {
    pub(crate) method: &'static str,
    pub(crate) params: &'a RawValue,
}

impl<'a> ShownQuestion<'a> {
    /// Questions under their keys.
    pub(crate) fn all(requests: &'a BTreeMap<String, InputRequest>) -> BTreeMap<&'a str, Self> {
        let shown = |(key, question): (&'a String, &'a InputRequest)| {
            (key.as_str(), Self { method: question.method, params: &question.params })
        };
        requests.iter().map(shown).collect()
    }
}

/// A task as a revision writes it.
pub(crate) struct ShownTask<'a> {
    pub(crate) task: &'a CallTask,
    pub(crate) revision: Revision,
    /// Whether what came of it is shown too, where the revision shows it here.
    pub(crate) is_detailed: bool,
}

impl Serialize for ShownTask<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { task, revision, is_detailed } = *self;
        let methods = revision.facts().tasks;
        let (ttl, poll) = match methods {
            TaskMethods::Extension => ("ttlMs", "pollIntervalMs"),
            TaskMethods::Absent | TaskMethods::Core => ("ttl", "pollInterval"),
        };
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("taskId", &task.id)?;
        map.serialize_entry("status", task.state.word(methods))?;
        if let Some(message) = &task.message {
            map.serialize_entry("statusMessage", message)?;
        }
        map.serialize_entry("createdAt", &task.created_at)?;
        map.serialize_entry("lastUpdatedAt", &task.updated_at)?;
        map.serialize_entry(ttl, &millis(task.ttl))?;
        map.serialize_entry(poll, &millis(task.poll))?;
        if is_detailed && methods == TaskMethods::Extension {
            match &task.state {
                CallTaskState::Working | CallTaskState::Canceled => {}
                CallTaskState::InputRequired(requests) => {
                    map.serialize_entry("inputRequests", &ShownQuestion::all(requests))?;
                }
                CallTaskState::Completed(output) => map.serialize_entry("result", &result_of(output, revision))?,
                CallTaskState::Failed(error) => map.serialize_entry("error", &error.to_object(revision))?,
            }
        }
        map.end()
    }
}

/// A result as it stands inside of something else.
fn result_of(output: &ToolOutput, revision: Revision) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Whole<'a, T> {
        #[serde(flatten)]
        result: T,
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<&'a RawValue>,
    }
    match output.beside.meta.as_deref() {
        None => raw(&shown_call(output, revision.facts())),
        meta => raw(&Whole { result: shown_call(output, revision.facts()), meta }),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "call_task_tests.rs"]
mod tests;
