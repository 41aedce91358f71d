//! What went wrong between us and a server, as its client is told.

use openfang_mcp::capabilities::{Capability, ClientCapabilities};
use openfang_mcp::{McpError, TASKS_EXTENSION};
use openfang_runtime::pipeline::ToolError;
use openfang_runtime::tools::ToolFailure;
use openfang_types::jsonrpc::ErrorObject;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a failure of a server means to its client: the server's own error, or that there was none.
pub(super) fn failed(failure: &ToolFailure) -> McpError {
    let Some(error) = failure.of_server() else { return McpError::Internal };
    match missing(error) {
        Some(missing) => missing,
        None => {
            let data = error.data.as_ref().map(|data| data.get().to_owned());
            McpError::Relayed { code: error.code, message: error.message.clone(), data }
        }
    }
}

/// What a server misses in its client, where it says what.
fn missing(error: &ErrorObject) -> Option<McpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        required_capabilities: Box<RawValue>,
    }
    let data: Data = serde_json::from_str(error.data.as_ref()?.get()).ok()?;
    if data.required_capabilities.get().contains(TASKS_EXTENSION) {
        return Some(McpError::MissingTasks);
    }
    let needed = ClientCapabilities::read(&data.required_capabilities);
    [Capability::Sampling, Capability::Roots, Capability::ElicitationUrl, Capability::ElicitationForm]
        .into_iter()
        .find(|capability| needed.has(*capability))
        .map(McpError::MissingCapability)
}

/// What a refusal of our own means to a client; what it may not use does not exist.
pub(in crate::doors) fn refusal(error: &ToolError, unknown: McpError) -> McpError {
    match error {
        ToolError::Unknown { .. } => unknown,
        ToolError::Cancelled(_) => McpError::Canceled,
        ToolError::Failed { failure, .. } => failed(failure),
        error => McpError::InvalidParams(error.to_string()),
    }
}
