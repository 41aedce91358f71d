//! Suggestions for mistyped names: the daemon says that there is none of that name, and the command says which was meant.

use openfang_types::ids::{AgentName, ToolName};
use openfang_types::nearest::nearest;

use crate::backend::Backend;
use crate::error::CliError;

/// The error, with the tool that was probably meant.
pub(crate) async fn for_tool(backend: &Backend, error: CliError, name: &ToolName) -> CliError {
    if !is_refusal(&error, "unknown_tool") {
        return error;
    }
    let tools = backend.tools(None).await.unwrap_or_default();
    suggested(error, nearest(name.as_str(), tools.iter().map(|tool| tool.name.as_str())))
}

/// The error, with the agent that was probably meant.
pub(crate) async fn for_agent(backend: &Backend, error: CliError, name: &AgentName) -> CliError {
    if !is_refusal(&error, "unknown_agent") {
        return error;
    }
    let agents = backend.agents().await.unwrap_or_default();
    suggested(error, nearest(name.as_str(), agents.iter().map(|agent| agent.name.as_str())))
}

fn is_refusal(error: &CliError, code: &str) -> bool {
    matches!(error, CliError::Refused(refusal) if refusal.code == code)
}

fn suggested(error: CliError, meant: Option<&str>) -> CliError {
    match (error, meant) {
        (CliError::Refused(mut refusal), Some(meant)) => {
            refusal.message.push_str(&format!(" (did you mean {meant}?)"));
            CliError::Refused(refusal)
        }
        (error, _) => error,
    }
}
