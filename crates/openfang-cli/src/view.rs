//! Messages, artifacts and tool results as text for a terminal.

use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::task::{Artifact, Message, Part, PartBody, Task};
use serde_json::Value;

/// The text of an artifact, or its other parts if it has no text. Chunks of an answer are joined without a separator;
/// blocks of a tool result get a line each.
pub(crate) fn artifact_text(artifact: &Artifact) -> String {
    let texts: Vec<&str> = artifact.parts.iter().filter_map(Part::as_text).collect();
    if texts.is_empty() {
        return parts_text(&artifact.parts);
    }
    let name = artifact.name.as_deref().unwrap_or_default();
    let is_tool_result = name.ends_with("-result") || name.ends_with("-error");
    texts.join(if is_tool_result { "\n" } else { "" })
}

/// The parts of a message as text.
pub(crate) fn message_text(message: &Message) -> String {
    parts_text(&message.parts)
}

/// The message of the task's current status.
pub(crate) fn status_text(task: &Task) -> Option<String> {
    task.status.message.as_ref().map(message_text).filter(|text| !text.is_empty())
}

/// The content blocks of a tool result, or its structured content if there are none.
pub(crate) fn output_text(output: &ToolOutput) -> String {
    match (&output.content[..], output.structured_value()) {
        ([], Some(value)) => pretty(&value),
        (blocks, _) => {
            let lines: Vec<String> = blocks.iter().map(block_text).collect();
            lines.join("\n")
        }
    }
}

fn parts_text(parts: &[Part]) -> String {
    let lines: Vec<String> = parts.iter().map(part_text).collect();
    lines.join("\n")
}

fn part_text(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.clone(),
        PartBody::Data(value) => pretty(value),
        PartBody::Url(url) => url.clone(),
        PartBody::Raw(bytes) => {
            let name = part.filename.as_deref().unwrap_or("unnamed");
            let kind = part.media_type.as_deref().unwrap_or("unknown type");
            format!("[file {name}, {kind}, {} bytes; --json prints it]", bytes.len())
        }
    }
}

fn block_text(block: &Block) -> String {
    match block.content() {
        ContentBlock::Text { text } => text,
        ContentBlock::Image { data, mime_type } => {
            format!("[image {mime_type}, {} bytes; --json prints it]", base64_len(&data))
        }
        ContentBlock::Audio { data, mime_type } => {
            format!("[audio {mime_type}, {} bytes; --json prints it]", base64_len(&data))
        }
        ContentBlock::ResourceLink { uri, name } => format!("{name}: {uri}"),
        ContentBlock::Resource { resource } => pretty(&resource),
    }
}

const fn base64_len(text: &str) -> usize {
    text.len() / 4 * 3
}

pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
