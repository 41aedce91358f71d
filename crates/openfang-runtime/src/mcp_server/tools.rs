//! Tools of the house, as MCP has them.

use std::borrow::Cow;

use openfang_mcp::listing::{Entry, Late};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::catalog::{Known, Registered};
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

/// A value of one of our own types, which can always be written.
pub fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
