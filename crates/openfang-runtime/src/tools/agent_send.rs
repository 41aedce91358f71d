//! `agent_send`: asks another agent and waits for its answer. The caller's principal and labels travel along.

use std::sync::Arc;

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::AgentName;
use openfang_types::taint::SinkKind;
use openfang_types::task::TaskState;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::agents::AgentReply;
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct AgentSend;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The agent's name, as agent_list shows it.
    agent: Option<AgentName>,
    /// The same as `agent`; give one of the two.
    agent_id: Option<AgentName>,
    /// What to tell it.
    message: String,
}

impl Tool for AgentSend {
    fn definition(&self) -> ToolDefinition {
        let says = "Sends a message to another agent and returns its answer.";
        ToolDefinition::of::<Args>(name("agent_send"), says, SinkKind::Delegates, ToolAnnotations::ADDS)
            .running_an_agent()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { agent, agent_id, message } = parse(arguments)?;
            let agent = match (agent, agent_id) {
                (Some(agent), None) | (None, Some(agent)) => agent,
                (Some(agent), Some(id)) if agent == id => agent,
                (Some(_), Some(_)) => {
                    return Err(ToolFailure::new("`agent` and `agent_id` differ; give one of the two"));
                }
                (None, None) => {
                    return Err(ToolFailure::new("`agent` is missing; agent_list shows the agents you may talk to"));
                }
            };
            let reply = Arc::clone(&cx.agents).send(cx, &agent, message).await?;
            Ok(Outcome::Done(output_of(&agent, reply)))
        })
    }
}

fn output_of(agent: &AgentName, reply: AgentReply) -> ToolOutput {
    let AgentReply { text, state, task, labels } = reply;
    let output = match state {
        TaskState::Completed => ToolOutput::text(text),
        TaskState::InputRequired | TaskState::AuthRequired => {
            ToolOutput::text(format!("{agent} asks back ({state}): {text}"))
        }
        TaskState::Submitted | TaskState::Working | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => {
            ToolOutput::error(format!("{agent} ended {state}: {text}"))
        }
    };
    output.with_structured(&json!({ "state": state, "task": task })).labelled(&labels)
}
