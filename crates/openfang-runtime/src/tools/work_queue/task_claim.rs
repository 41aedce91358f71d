//! `task_claim`: takes the next task of the work queue. No other worker gets it while the lease lasts.

use std::sync::Arc;
use std::time::Duration;

use openfang_store::{QueueClaim, QueueStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::limits::QUEUE_LEASE_SECS_MAX;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ItemView, holder_of, labels_of};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(in crate::tools) struct TaskClaim {
    pub(in crate::tools) queue: Arc<dyn QueueStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Seconds until the task is given to another worker, unless it is completed; 900 if left out and not configured otherwise.
    #[schemars(range(min = 1, max = 86_400))]
    lease_secs: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct ClaimReceipt {
    /// The task; null if there is none to claim.
    task: Option<ItemView>,
}

impl Tool for TaskClaim {
    fn definition(&self) -> ToolDefinition {
        let says = "Claims the next task of the work queue: the highest priority, then the oldest. \
                    Complete it with task_complete before its lease ends.";
        ToolDefinition::of::<Args>(name("task_claim"), says, SinkKind::Writes, ToolAnnotations::ADDS)
            .returning::<ClaimReceipt>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { lease_secs } = parse(arguments)?;
            let lease = lease_secs.unwrap_or(cx.config.queue.lease_secs);
            if !(1..=QUEUE_LEASE_SECS_MAX).contains(&lease) {
                return Err(ToolFailure::new(format!("a lease has 1 to {QUEUE_LEASE_SECS_MAX} seconds")));
            }
            let at = self.clock.now();
            let claim = QueueClaim {
                worker: cx.agent.as_ref().map(|agent| agent.name.clone()),
                holder: holder_of(cx),
                at,
                lease_until: at.checked_add(Duration::from_secs(lease))?,
                attempts: cx.config.queue.attempts,
            };
            let Some(item) = self.queue.claim(cx.principal.owner(), claim).await? else {
                let nothing = ToolOutput::text("there is no task to claim");
                return Ok(Outcome::Done(nothing.with_structured(&ClaimReceipt { task: None })));
            };
            let labels = labels_of(&item);
            let shown = ItemView::from(item);
            let until = shown.lease_until.as_deref().unwrap_or_default();
            let text = format!(
                "claimed {} until {until} (attempt {})\n\n{}\n\n{}",
                shown.id, shown.attempt, shown.title, shown.description
            );
            Ok(Outcome::Done(
                ToolOutput::text(text)
                    .with_structured(&ClaimReceipt { task: Some(shown) })
                    .labelled(&labels),
            ))
        })
    }
}
