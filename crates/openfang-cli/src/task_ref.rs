//! A task as people name it: by its id, by the beginning of its id, or as `last`.

use std::str::FromStr;

use openfang_types::ids::TaskId;
use openfang_types::limits::TASK_REF_SEARCHED;

use crate::backend::{Backend, TaskQuery};
use crate::error::CliError;

/// The shortest beginning of an id that is searched for.
const LEAST: usize = 4;

/// A task that was named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskRef {
    Id(TaskId),
    /// The beginning of an id.
    Prefix(String),
    /// The task that changed last.
    Last,
}

impl FromStr for TaskRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "last" {
            return Ok(Self::Last);
        }
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
        if text.len() >= LEAST && text.chars().all(is_id) {
            return Ok(Self::Prefix(text.to_ascii_lowercase()));
        }
        Err(format!("write a task id, at least {LEAST} characters of its beginning or its end, or `last`"))
    }
}

impl TaskRef {
    /// The id of the task. A beginning is searched among the latest tasks; it may also be the end of an id, because ids of
    /// the same hour begin alike.
    pub(crate) async fn resolve(&self, backend: &Backend) -> Result<TaskId, CliError> {
        let limit = match self {
            Self::Id(id) => return Ok(*id),
            Self::Prefix(_) => TASK_REF_SEARCHED,
            Self::Last => 1,
        };
        let listing = backend.tasks(&TaskQuery { agent: None, state: None, context: None, limit }).await?;
        let fits = |id: &TaskId| match self {
            Self::Prefix(text) => id.to_string().starts_with(text) || id.to_string().ends_with(text),
            Self::Id(_) | Self::Last => true,
        };
        let found: Vec<TaskId> = listing.tasks.iter().map(|task| task.id).filter(fits).collect();
        match (found.as_slice(), self) {
            ([id], _) => Ok(*id),
            ([], Self::Prefix(text)) => Err(CliError::Usage(format!(
                "no task begins or ends with {text}; `openfang task list` lists your tasks"
            ))),
            ([], _) => Err(CliError::Usage("there is no task yet; create one with `openfang agent send`".to_owned())),
            (several, _) => {
                let shown: Vec<String> = several.iter().take(5).map(ToString::to_string).collect();
                let more = if several.len() > shown.len() { ", ..." } else { "" };
                Err(CliError::Usage(format!(
                    "{} tasks fit: {}{more}; write more of the id",
                    several.len(),
                    shown.join(", ")
                )))
            }
        }
    }
}

#[cfg(test)]
#[path = "task_ref_tests.rs"]
mod tests;
