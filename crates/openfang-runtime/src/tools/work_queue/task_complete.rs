//! `task_complete`: ends a task of the work queue. Only the worker that holds it can, and only once.

use std::sync::Arc;

use openfang_store::{Completion, QueueEnd, QueueStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::QueueItemId;
use openfang_types::limits::QUEUE_RESULT_MAX_BYTES;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{check_text, holder_of};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(in crate::tools) struct TaskComplete {
    pub(in crate::tools) queue: Arc<dyn QueueStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id that task_claim returned.
    task_id: String,
    /// What came of the work.
    result: String,
    /// Whether the work has failed.
    #[serde(default)]
    failed: bool,
    /// The attempt that task_claim returned. Needed in a later run of the agent that claimed the task, and outside of an agent if
    /// the task was claimed more than once.
    attempt: Option<u32>,
}

impl Tool for TaskComplete {
    fn definition(&self) -> ToolDefinition {
        let says = "Completes a task that you have claimed from the work queue, with its result.";
        ToolDefinition::of::<Args>(name("task_complete"), says, SinkKind::Writes, ToolAnnotations::ADDS)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { task_id, result, failed, attempt } = parse(arguments)?;
            check_text("result", &result, QUEUE_RESULT_MAX_BYTES)?;
            let unknown = || ToolFailure::new("there is no such task; task_list shows what there is");
            let id: QueueItemId = task_id.parse().map_err(|_| unknown())?;
            let end = QueueEnd {
                id,
                worker: cx.agent.as_ref().map(|agent| agent.name.clone()),
                holder: holder_of(cx),
                attempt,
                is_failed: failed,
                result,
                labels: cx.context_labels(),
                at: self.clock.now(),
            };
            let status = if failed { "failed" } else { "completed" };
            match self.queue.complete(cx.principal.owner(), end).await? {
                Completion::Done => {
                    let done = ToolOutput::text(format!("{status} {id}"));
                    Ok(Outcome::Done(done.with_structured(&json!({ "task_id": id, "status": status }))))
                }
                Completion::Unknown => Err(unknown()),
                Completion::Ended(state) => Err(ToolFailure::new(format!("the task is {} already", state.as_str()))),
                Completion::NotClaimed => {
                    Err(ToolFailure::new("nobody holds the task; claim it with task_claim first"))
                }
                Completion::NotHeld => {
                    let why = "you do not hold the task: its lease has ended, or another worker or run claimed it; in a later run of the same agent, pass the `attempt` that task_claim returned";
                    Err(ToolFailure::new(why))
                }
                Completion::WhichClaim => Err(ToolFailure::new(
                    "the task was claimed more than once; pass the `attempt` that task_claim returned",
                )),
            }
        })
    }
}
