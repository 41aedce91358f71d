//! Tools of the house, as MCP has them.

use std::borrow::Cow;
use std::sync::Arc;

use openfang_mcp::McpError;
use openfang_mcp::host::Call;
use openfang_mcp::listing::{Entry, Late};
use openfang_types::call::{CallListener, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{House, HouseError, ToolRequest};
use crate::catalog::{Known, Registered};
use crate::context::WayBack;
use crate::server_tools::ServerTools;

/// What an MCP peer is told of a tool; how we guard it is our own business.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    annotations: ToolAnnotations,
}

/// A tool as an entry of a list.
pub fn entry(tool: &ToolDefinition) -> Entry {
    Entry::new(tool.name.as_str(), written(tool))
}

/// A tool of the house or of a server, to be written when somebody wants to read it.
pub fn late_entry(tool: Known) -> Entry {
    match tool {
        Known::Own(tool) => Entry::late(tool, 0),
        Known::Connected(server, place) => Entry::late(server, place),
    }
}

impl Late for Registered {
    fn name(&self, _: usize) -> &str {
        self.traits.name.as_str()
    }

    fn json(&self, _: usize) -> Cow<'_, str> {
        Cow::Owned(String::from(Box::<str>::from(written(&self.definition()))))
    }
}

impl Late for ServerTools {
    fn name(&self, place: usize) -> &str {
        self.name(place).unwrap_or_default()
    }

    fn json(&self, place: usize) -> Cow<'_, str> {
        let json = self.definition(place).map(|tool| String::from(Box::<str>::from(written(&tool))));
        json.map_or(Cow::Borrowed("null"), Cow::Owned)
    }
}

fn written(tool: &ToolDefinition) -> Box<RawValue> {
    let shown = Shown {
        name: tool.name.as_str(),
        description: &tool.description,
        input_schema: &tool.input_schema,
        output_schema: tool.output_schema.as_ref(),
        annotations: tool.annotations,
    };
    raw(&shown)
}

pub(super) async fn call<T: House>(
    house: &T,
    call: Call<'_, T::Caller>,
    name: &ToolName,
    arguments: Option<&RawValue>,
) -> Result<Outcome<ToolOutput>, McpError> {
    let back = WayBack {
        listener: Some(Arc::clone(call.reporter) as Arc<dyn CallListener>),
        client: call.client,
        era: Some(call.era),
        resumed: call.resumed.cloned().map(Arc::new),
        meta: call.meta_beside().map(Arc::from),
    };
    let request = ToolRequest { name, arguments, back, cancel: call.reporter.cancel() };
    match house.call_tool(call.caller, request).await {
        Ok(outcome) => Ok(outcome),
        Err(HouseError::Unknown) => Err(McpError::unknown_tool(name.as_str())),
        // The model can do something about it, so the model is told.
        Err(HouseError::Refused(why) | HouseError::TooMuch(why)) => Ok(Outcome::Done(ToolOutput::error(why))),
        Err(HouseError::Lost(what)) => Ok(Outcome::Done(ToolOutput::error(what))),
        Err(HouseError::Canceled) => Err(McpError::Canceled),
        Err(HouseError::BadPage) => Err(McpError::Internal),
    }
}

pub(super) fn members(arguments: Option<&RawValue>) -> Result<Map<String, Value>, McpError> {
    let Some(arguments) = arguments else { return Ok(Map::new()) };
    serde_json::from_str(arguments.get()).map_err(|_| McpError::InvalidParams("arguments must be an object".to_owned()))
}

/// Our own types are always written.
pub(super) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
