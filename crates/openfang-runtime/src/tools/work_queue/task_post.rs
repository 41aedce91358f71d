//! `task_post`: puts work into the queue of the caller's owner.

use std::sync::Arc;

use openfang_store::{NewQueueItem, QueueStore, StoreError};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, QueueItemId};
use openfang_types::limits::{QUEUE_DESCRIPTION_MAX_BYTES, QUEUE_TITLE_CHARS};
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::check_text;
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(in crate::tools) struct TaskPost {
    pub(in crate::tools) queue: Arc<dyn QueueStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What is to be done, in a few words.
    title: String,
    /// All that a worker needs to know.
    description: String,
    /// The only agent that may claim it; leave it out for anybody.
    assigned_to: Option<AgentName>,
    /// Higher ones are claimed first; 0 if left out.
    #[serde(default)]
    #[schemars(range(min = -100, max = 100))]
    priority: i32,
}

#[derive(Serialize, JsonSchema)]
struct PostReceipt {
    task_id: String,
}

impl Tool for TaskPost {
    fn definition(&self) -> ToolDefinition {
        let says = "Posts a task to the work queue, where task_claim finds it.";
        ToolDefinition::of::<Args>(name("task_post"), says, SinkKind::Writes, ToolAnnotations::ADDS)
            .returning::<PostReceipt>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { title, description, assigned_to, priority } = parse(arguments)?;
            check_title(&title)?;
            check_text("description", &description, QUEUE_DESCRIPTION_MAX_BYTES)?;
            if let Some(agent) = &assigned_to
                && !cx.agents.visible(&cx.principal).iter().any(|known| known.name == *agent)
            {
                let why = format!("there is no agent {agent}; agent_list shows the agents you may talk to");
                return Err(ToolFailure::new(why));
            }
            let id = QueueItemId::from_uuid(Uuid::now_v7());
            let item = NewQueueItem {
                id,
                title,
                description,
                assigned_to,
                created_by: cx.agent.as_ref().map(|agent| agent.name.clone()),
                priority,
                labels: cx.context_labels(),
                at: self.clock.now(),
            };
            match self.queue.post(cx.principal.owner(), item, cx.config.queue.open_per_owner).await {
                Err(StoreError::TooMany { limit, .. }) => {
                    let why = format!("{limit} tasks of the queue are open already; complete some of them first");
                    return Err(ToolFailure::new(why));
                }
                posted => posted?,
            }
            let posted = PostReceipt { task_id: id.to_string() };
            Ok(Outcome::Done(ToolOutput::text(format!("posted {id}")).with_structured(&posted)))
        })
    }
}

fn check_title(title: &str) -> Result<(), ToolFailure> {
    if title.trim().is_empty() || title.chars().count() > QUEUE_TITLE_CHARS || title.chars().any(char::is_control) {
        return Err(ToolFailure::new(format!("a title has 1 to {QUEUE_TITLE_CHARS} characters on one line")));
    }
    Ok(())
}
