//! Calls of tools, and their way back to the client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_mcp::McpError;
use openfang_mcp::host::{Call, ToolAnswer};
use openfang_runtime::context::WayBack;
use openfang_types::call::{CallListener, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::host::KernelHost;
use super::{DoorError, ToolRequest};
use crate::{Caller, Way};

pub(super) async fn call(
    host: &KernelHost,
    call: Call<'_, Caller>,
    name: &ToolName,
    arguments: Option<&RawValue>,
) -> Result<Outcome<ToolOutput>, McpError> {
    let caller = host.doors.inner.caller_of(&call);
    let patience = host.is_external_tool(name).then(|| host.patience(call));
    let back = WayBack { patience, ..way_back(&call) };
    let request = ToolRequest { name, arguments, back, cancel: call.reporter.cancel() };
    told(host.doors.call_tool(&caller, request).await, name)
}

/// The same for a client that waits for tasks.
pub(super) async fn call_or_hold(
    host: &KernelHost,
    call: Call<'_, Caller>,
    name: &ToolName,
    arguments: Option<&RawValue>,
) -> Result<ToolAnswer, McpError> {
    let (doors, name, arguments) = (host.doors.clone(), name.clone(), arguments.map(ToOwned::to_owned));
    let caller = host.doors.inner.caller_of(&call).into_owned();
    let make = move |way: Way| -> BoxFuture<'static, Result<Outcome<ToolOutput>, McpError>> {
        let (doors, caller, name, arguments) = (doors.clone(), caller.clone(), name.clone(), arguments.clone());
        Box::pin(async move {
            let Way { back, cancel } = way;
            let request = ToolRequest { name: &name, arguments: arguments.as_deref(), back, cancel: &cancel };
            told(doors.call_tool(&caller, request).await, &name)
        })
    };
    host.doors.make_or_hold(&call, way_back(&call), make).await
}

/// The way back to a client.
fn way_back(call: &Call<'_, Caller>) -> WayBack {
    WayBack {
        listener: Some(Arc::clone(call.reporter) as Arc<dyn CallListener>),
        client: call.client,
        era: Some(call.era),
        resumed: call.resumed.cloned().map(Arc::new),
        meta: call.meta.cloned(),
        ..WayBack::default()
    }
}

/// What a client is told of a call.
fn told(called: Result<Outcome<ToolOutput>, DoorError>, name: &ToolName) -> Result<Outcome<ToolOutput>, McpError> {
    match called {
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
