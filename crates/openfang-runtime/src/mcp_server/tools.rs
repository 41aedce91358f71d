//! Tools of the house, as MCP has them.

use openfang_mcp::listing::Entry;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// What an MCP peer is told of a tool; how we guard it is our own business.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    annotations: ToolAnnotations,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<ToolExecution>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ToolMeta<'a>>,
}

/// How a tool can be called, in 2025-11-25 alone: agents may take long.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolExecution {
    task_support: &'static str,
}

/// What an OpenFang that reads the list must know: without it, two that point at each other would list each other's tools
/// again and again.
#[derive(Serialize)]
struct ToolMeta<'a> {
    #[serde(rename = "io.openfang/via")]
    via: &'a [String],
}

/// A tool as an entry of a list.
pub fn entry(tool: &ToolDefinition) -> Entry {
    Entry::new(tool.name.as_str(), written(tool))
}

/// The JSON of a tool in a list.
pub(crate) fn listed_json(tool: &ToolDefinition) -> String {
    String::from(Box::<str>::from(written(tool)))
}

fn written(tool: &ToolDefinition) -> Box<RawValue> {
    let shown = ListedTool {
        name: tool.name.as_str(),
        description: &tool.description,
        input_schema: &tool.input_schema,
        output_schema: tool.output_schema.as_ref(),
        annotations: tool.annotations,
        execution: tool.origin.external_agent().map(|_| ToolExecution { task_support: "optional" }),
        meta: (!tool.via.is_empty()).then_some(ToolMeta { via: &tool.via }),
    };
    raw(&shown)
}

/// A value of one of our own types, which can always be written.
pub fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
