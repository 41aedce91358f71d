//! `task_list`: the tasks of the work queue, the newest first.

use std::sync::Arc;

use openfang_store::{QueuePage, QueueQuery, QueueState, QueueStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::QueueItemId;
use openfang_types::limits::{QUEUE_PAGE, QUEUE_PAGE_BYTES};
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ItemView, labels_of};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(in crate::tools) struct TaskList {
    pub(in crate::tools) queue: Arc<dyn QueueStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Only tasks with this status.
    status: Option<Status>,
    /// Only tasks that were posted before the task with this id, for the next page.
    before: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
    Dead,
}

impl From<Status> for QueueState {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Dead => Self::Dead,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct QueueListing {
    tasks: Vec<ItemView>,
    /// Pass this as `before` for older tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Tool for TaskList {
    fn definition(&self) -> ToolDefinition {
        let says = "Lists the tasks of the work queue, the newest first.";
        ToolDefinition::of::<Args>(name("task_list"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
            .returning::<QueueListing>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { status, before } = parse(arguments)?;
            let before = before.map(|id| id.parse::<QueueItemId>()).transpose();
            let before = before.map_err(|_| ToolFailure::new("`before` is the id of a task, as task_list shows it"))?;
            let query = QueueQuery {
                state: status.map(QueueState::from),
                before,
                limit: QUEUE_PAGE,
                max_bytes: QUEUE_PAGE_BYTES,
                at: self.clock.now(),
            };
            let QueuePage { items, has_more } = self.queue.list(cx.principal.owner(), query).await?;
            let labels = items.iter().fold(Labels::none(), |labels, item| labels.joined(&labels_of(item)));
            let tasks: Vec<ItemView> = items.into_iter().map(ItemView::from).collect();
            let next = tasks.last().filter(|_| has_more).map(|task| task.id.clone());
            let line = |task: &ItemView| format!("{} {} {}", task.id, task.status, task.title);
            let lines: Vec<String> = tasks.iter().map(line).collect();
            let text = if lines.is_empty() { "(no tasks)".to_owned() } else { lines.join("\n") };
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&QueueListing { tasks, next }).labelled(&labels)))
        })
    }
}
