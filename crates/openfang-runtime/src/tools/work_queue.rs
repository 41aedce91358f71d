//! The tools of the work queue share how an item is shown, who holds a claim, and what carries its labels.

use openfang_store::{QueueHolder, QueueItem};
use openfang_types::taint::Labels;
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolFailure;
use crate::context::CallContext;

pub(super) mod task_claim;
pub(super) mod task_complete;
pub(super) mod task_list;
pub(super) mod task_post;

/// An item, as it is shown.
#[derive(Serialize, JsonSchema)]
struct ItemView {
    id: String,
    title: String,
    description: String,
    /// pending, in_progress, completed, failed or dead.
    status: String,
    priority: i32,
    /// The only agent that may claim it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assigned_to: Option<String>,
    /// The agent that posted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    created_at: String,
    /// The number of its last claim.
    attempt: u32,
    /// Until when the claim counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<String>,
    /// What the worker said at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

impl From<QueueItem> for ItemView {
    fn from(item: QueueItem) -> Self {
        let QueueItem { posted, state, attempt, lease_until, result, .. } = item;
        Self {
            id: posted.id.to_string(),
            title: posted.title,
            description: posted.description,
            status: state.as_str().to_owned(),
            priority: posted.priority,
            assigned_to: posted.assigned_to.map(|agent| agent.to_string()),
            created_by: posted.created_by.map(|agent| agent.to_string()),
            created_at: posted.at.to_string(),
            attempt,
            lease_until: lease_until.map(|until| until.to_string()),
            result: result.map(|(result, _)| result),
        }
    }
}

/// Where the words of an item came from.
fn labels_of(item: &QueueItem) -> Labels {
    match &item.result {
        Some((_, labels)) => item.posted.labels.clone().joined(labels),
        None => item.posted.labels.clone(),
    }
}

/// Who claims: the run, or a caller without one.
fn holder_of(cx: &CallContext) -> QueueHolder {
    match &cx.run {
        Some(run) => QueueHolder::Run(run.id),
        None => QueueHolder::Caller,
    }
}

fn check_text(what: &str, text: &str, max_bytes: usize) -> Result<(), ToolFailure> {
    if text.len() > max_bytes {
        return Err(ToolFailure::new(format!(
            "the {what} is longer than {max_bytes} bytes; write a file and name it here"
        )));
    }
    Ok(())
}
