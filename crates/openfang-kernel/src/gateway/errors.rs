//! What went wrong between us and a server, as its client is told.

use openfang_mcp::McpError;
use openfang_mcp::capabilities::{Capability, ClientCapabilities};
use openfang_mcp::client::ClientError;
use openfang_runtime::pipeline::ToolError;
use openfang_types::ids::ServerName;
use openfang_types::jsonrpc::{ErrorObject, code};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a server's error, or its silence, means to a client.
pub(super) fn mcp_error(server: &ServerName, error: &ClientError) -> McpError {
    match error {
        ClientError::Refused(error) => match missing(error) {
            Some(capability) => McpError::MissingCapability(capability),
            None => relayed(error),
        },
        error => McpError::Relayed {
            code: code::INTERNAL_ERROR,
            message: format!("the MCP server {server}: {error}"),
            data: None,
        },
    }
}

fn relayed(error: &ErrorObject) -> McpError {
    let data = error.data.as_ref().map(|data| data.get().to_owned());
    McpError::Relayed { code: error.code, message: error.message.clone(), data }
}

/// The capability that a server misses in its client, where it says which.
fn missing(error: &ErrorObject) -> Option<Capability> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        required_capabilities: Box<RawValue>,
    }
    let data: Data = serde_json::from_str(error.data.as_ref()?.get()).ok()?;
    let needed = ClientCapabilities::read(&data.required_capabilities);
    [Capability::Sampling, Capability::Roots, Capability::ElicitationUrl, Capability::ElicitationForm]
        .into_iter()
        .find(|capability| needed.has(*capability))
}

/// What a refusal of our own means to a client; what it may not use does not exist.
pub(super) fn refusal(error: &ToolError, unknown: McpError) -> McpError {
    match error {
        ToolError::Unknown { .. } => unknown,
        ToolError::Cancelled(_) => McpError::Canceled,
        error => McpError::InvalidParams(error.to_string()),
    }
}
