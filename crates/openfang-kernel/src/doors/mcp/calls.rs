//! Calls of tools, and their way back to the client.

use std::sync::Arc;

use openfang_mcp::McpError;
use openfang_mcp::host::Call;
use openfang_runtime::context::WayBack;
use openfang_types::call::{CallListener, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::host::KernelHost;
use super::{DoorError, ToolRequest};
use crate::Caller;

pub(super) async fn call(
    host: &KernelHost,
    call: Call<'_, Caller>,
    name: &ToolName,
    arguments: Option<&RawValue>,
) -> Result<Outcome<ToolOutput>, McpError> {
    let caller = host.doors.inner.caller_of(&call);
    let back = WayBack {
        listener: Some(Arc::clone(call.reporter) as Arc<dyn CallListener>),
        client: call.client,
        era: Some(call.era),
        resumed: call.resumed.cloned().map(Arc::new),
        patience: host.is_external_tool(name).then(|| host.patience(call)),
        meta: call.meta.cloned(),
    };
    let request = ToolRequest { name, arguments, back, cancel: call.reporter.cancel() };
    match host.call_tool(&caller, request).await {
        Ok(outcome) => Ok(outcome),
        Err(DoorError::Unknown) => Err(McpError::unknown_tool(name.as_str())),
        // The model can do something about it, so the model is told.
        Err(DoorError::Refused(why) | DoorError::TooMuch(why)) => Ok(Outcome::Done(ToolOutput::error(why))),
        Err(DoorError::Canceled) => Err(McpError::Canceled),
        Err(DoorError::BadPage) => Err(McpError::Internal),
    }
}

pub(super) fn members(arguments: Option<&RawValue>) -> Result<Map<String, Value>, McpError> {
    let Some(arguments) = arguments else { return Ok(Map::new()) };
    serde_json::from_str(arguments.get()).map_err(|_| McpError::InvalidParams("arguments must be an object".to_owned()))
}
