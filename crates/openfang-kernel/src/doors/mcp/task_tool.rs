//! `openfang_task`: what became of a call whose client did not wait for its end. It answers as the call would have.

use std::time::Duration;

use openfang_mcp::McpError;
use openfang_mcp::host::{Call, Outcome};
use openfang_mcp::listing::Entry;
use openfang_runtime::context::Patience;
use openfang_runtime::mcp_server::raw;
use openfang_runtime::task_output::{self, TASK_TOOL, TaskReply};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::TASK_WAIT_MAX_SECS;
use openfang_types::task::Part;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::host::KernelHost;
use super::{DoorError, Sending, agents};
use crate::Caller;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    task: String,
    #[serde(default)]
    reply: Option<String>,
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    wait_secs: Option<u64>,
}

pub(super) fn tool() -> Entry {
    let json = json!({
        "name": TASK_TOOL,
        "title": "Wait for a task",
        "description": "Waits for a task of an agent that was still working when its call returned, and answers as the call \
            would have. It can also answer the agent's question, or cancel the task.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "task": { "type": "string", "description": "The task, as the call named it." },
                "reply": { "type": "string", "description": "The answer to the agent's question." },
                "cancel": { "type": "boolean", "description": "Whether to cancel the task.", "default": false },
                "wait_secs": {
                    "type": "integer", "minimum": 0, "maximum": TASK_WAIT_MAX_SECS,
                    "description": "How long to wait; about as long as a call to the agent waits if it is left out.",
                },
            },
            "required": ["task"],
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        },
    });
    Entry::new(TASK_TOOL, raw(&json))
}

/// Calls the tool for tasks of one agent, or of all.
pub(super) async fn call(
    host: &KernelHost,
    call: Call<'_, Caller>,
    only: Option<&AgentName>,
    arguments: Option<&RawValue>,
) -> Result<Outcome<ToolOutput>, McpError> {
    let args = match serde_json::from_str::<Args>(arguments.map_or("{}", RawValue::get)) {
        Ok(args) => args,
        Err(error) => return Ok(refused(&format!("give task, and if you want reply, cancel or wait_secs ({error})"))),
    };
    if args.wait_secs.is_some_and(|secs| secs > TASK_WAIT_MAX_SECS) {
        return Ok(refused(&format!("wait_secs is at most {TASK_WAIT_MAX_SECS}; call again to wait longer")));
    }
    if args.cancel && args.reply.is_some() {
        return Ok(refused("give reply or cancel, not both"));
    }
    match look(host, call, only, args).await {
        Ok(outcome) => Ok(outcome),
        // Another's, unknown and removed ones look the same.
        Err(DoorError::Unknown) => Ok(refused("there is no such task; give a task that an agent's answer named")),
        Err(DoorError::Canceled) => Err(McpError::Canceled),
        Err(error) => Ok(refused(&error.to_string())),
    }
}

async fn look(
    host: &KernelHost,
    call: Call<'_, Caller>,
    only: Option<&AgentName>,
    args: Args,
) -> Result<Outcome<ToolOutput>, DoorError> {
    let caller = host.doors.inner.caller_of(&call);
    let id: TaskId = args.task.parse().map_err(|_| DoorError::Unknown)?;
    let agent = host.task_head(&caller, id).await?.agent;
    if only.is_some_and(|only| *only != agent) {
        return Err(DoorError::Unknown);
    }
    let patience = match args.wait_secs {
        Some(secs) => Patience { hold: Duration::from_secs(secs), ..host.patience(call) },
        None => host.patience(call),
    };
    if args.cancel {
        return Ok(agents::outcome(host, call, &host.cancel_task(&caller, id).await?));
    }
    let part = match task_output::reply(call.resumed) {
        Some(TaskReply::Said(answered, part)) if answered == id => Some(part),
        Some(TaskReply::Declined(_)) => return Ok(Outcome::Done(agents::declined(id))),
        Some(TaskReply::SigningIn(answered)) if answered == id => return host.after_sign_in(call, id).await,
        Some(TaskReply::SigningIn(_) | TaskReply::Said(..) | TaskReply::Unreadable(_)) | None => {
            args.reply.map(Part::text)
        }
    };
    let task = match part {
        None => host.settled_within(&caller, id, &patience).await?,
        Some(part) => {
            let sending =
                Sending { agent: &agent, parts: &[part], task: Some(id), reporter: call.reporter, patience: &patience };
            match host.send(&caller, sending).await? {
                crate::Reply::Task(task) => *task,
                crate::Reply::Message(message) => {
                    return Ok(Outcome::Done(ToolOutput::text(message.joined_text())));
                }
            }
        }
    };
    Ok(agents::outcome(host, call, &task))
}

fn refused(why: &str) -> Outcome<ToolOutput> {
    Outcome::Done(ToolOutput::error(why))
}
