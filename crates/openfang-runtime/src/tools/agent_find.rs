//! `agent_find`: the agents the caller may talk to that match some words, agents of other servers too.

use openfang_types::agent::search::{AgentQuery, FoundAgent};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct AgentFind;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Words that occur in the name, the tags, the skills, the tools or the description of the agent.
    query: String,
}

impl Tool for AgentFind {
    fn definition(&self) -> ToolDefinition {
        let says = "Finds agents by what they can do. Every word of the query must occur in what is known of an agent.";
        ToolDefinition::of::<Args>(name("agent_find"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { query } = parse(arguments)?;
            let found = cx.agents.found(&cx.principal, &AgentQuery::of(&query)?);
            let lines: Vec<String> = found.iter().map(line).collect();
            let text =
                if lines.is_empty() { "no agent matches; agent_list shows all".to_owned() } else { lines.join("\n") };
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&json!({ "agents": found }))))
        })
    }
}

fn line(found: &FoundAgent) -> String {
    let FoundAgent { agent, .. } = found;
    match agent.description.as_str() {
        "" => agent.name.to_string(),
        description => format!("{}: {description}", agent.name),
    }
}
