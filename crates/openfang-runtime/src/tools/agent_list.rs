//! `agent_list`: the agents the caller may talk to.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFuture, name};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct AgentList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

impl Tool for AgentList {
    fn definition(&self) -> ToolDefinition {
        let says = "Lists the agents that can be asked with agent_send.";
        ToolDefinition::of::<Args>(name("agent_list"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let agents = cx.agents.visible(&cx.principal);
            let lines: Vec<String> =
                agents.iter().map(|agent| format!("{}: {}", agent.name, agent.description)).collect();
            Ok(Outcome::Done(ToolOutput::text(lines.join("\n")).with_structured(&json!({ "agents": agents }))))
        })
    }
}
