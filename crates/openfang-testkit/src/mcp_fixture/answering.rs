//! Results of every kind.

use openfang_types::content::{Block, ToolOutput};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgSJsJAAFpAQALXUCcAAAAAElFTkSuQmCC";
/// One sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

pub(super) fn text() -> ToolOutput {
    ToolOutput::text("This is a simple text response for testing.")
}

pub(super) fn image() -> ToolOutput {
    blocks(&[picture()])
}

pub(super) fn audio() -> ToolOutput {
    blocks(&[json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })])
}

pub(super) fn resource() -> ToolOutput {
    blocks(&[embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
}

pub(super) fn mixed() -> ToolOutput {
    let document = embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    blocks(&[json!({ "type": "text", "text": "Multiple content types test:" }), picture(), document])
}

pub(super) fn failure() -> ToolOutput {
    ToolOutput::error("This tool intentionally returns an error for testing")
}

pub(super) fn structured() -> ToolOutput {
    let value = to_raw_value(&json!({ "answer": 42 })).expect("a value is JSON");
    ToolOutput { structured: Some(value), ..ToolOutput::text(r#"{"answer":42}"#) }
}

pub(super) fn link() -> ToolOutput {
    blocks(&[json!({ "type": "resource_link", "uri": "test://static-text", "name": "static-text" })])
}

pub(super) fn picture() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

/// A resource within content.
pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}

pub(super) fn block(json: &Value) -> Block {
    Block::of(json).expect("the blocks of the fixture have a type")
}

fn blocks(blocks: &[Value]) -> ToolOutput {
    ToolOutput { content: blocks.iter().map(block).collect(), ..ToolOutput::text("") }
}
