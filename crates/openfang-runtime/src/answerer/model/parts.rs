//! Messages and results as a model reads them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_model::{Media, Part as ModelPart};
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::task::{Message, Part, PartBody};
use serde_json::Value;

/// The parts of a message. What a model cannot read is described.
pub(super) fn of_message(message: &Message) -> Vec<ModelPart> {
    message.parts.iter().map(of_part).collect()
}

fn of_part(part: &Part) -> ModelPart {
    let media_type = part.media_type.as_deref().unwrap_or("application/octet-stream");
    match &part.body {
        PartBody::Text(text) => words(text.clone()),
        PartBody::Data(value) => words(value.to_string()),
        PartBody::Url(url) => words(format!("[file at {url}]")),
        PartBody::Raw(bytes) => match media(media_type, || STANDARD.encode(bytes)) {
            Some(media) => media,
            None => of_file(part, bytes, media_type),
        },
    }
}

/// A file that is text is read; of any other one only what it is.
fn of_file(part: &Part, bytes: &[u8], media_type: &str) -> ModelPart {
    let name = part.filename.as_deref().unwrap_or("file");
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text => words(format!("[{name}]\n{text}")),
        Ok(_) | Err(_) => words(format!("[{name}: {} bytes of {media_type}, which cannot be shown]", bytes.len())),
    }
}

/// The content of a result, with the structured form where that says more.
pub(super) fn of_output(output: &ToolOutput) -> Vec<ModelPart> {
    let mut parts: Vec<ModelPart> = output.content.iter().map(of_block).collect();
    let structured = output.structured_value();
    let is_said = |structured: &Value| {
        output
            .content
            .iter()
            .filter_map(Block::as_text)
            .any(|text| serde_json::from_str::<Value>(&text).is_ok_and(|said| said == *structured))
    };
    if let Some(structured) = structured.filter(|structured| parts.is_empty() && !is_said(structured)) {
        parts.push(words(structured.to_string()));
    }
    parts
}

fn of_block(block: &Block) -> ModelPart {
    match block.content() {
        ContentBlock::Text { text } => words(text),
        ContentBlock::Image { data, mime_type } | ContentBlock::Audio { data, mime_type } => {
            let described = || words(format!("[{mime_type}, which cannot be shown]"));
            media(&mime_type, || data.clone()).unwrap_or_else(described)
        }
        ContentBlock::ResourceLink { uri, name } => words(format!("[{name} at {uri}]")),
        ContentBlock::Resource { resource } => match resource.get("text").and_then(Value::as_str) {
            Some(text) => words(text.to_owned()),
            None => {
                let uri = resource.get("uri").and_then(Value::as_str).unwrap_or("a resource");
                words(format!("[{uri}: bytes, which cannot be shown]"))
            }
        },
    }
}

/// An image or a sound of a type that providers know.
fn media(media_type: &str, data: impl FnOnce() -> String) -> Option<ModelPart> {
    let of = |data: String| Media { media_type: media_type.to_owned(), data: Arc::from(data) };
    match media_type {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Some(ModelPart::Image(of(data()))),
        "audio/wav" | "audio/x-wav" | "audio/mpeg" | "audio/mp3" | "audio/ogg" | "audio/flac" => {
            Some(ModelPart::Audio(of(data())))
        }
        _ => None,
    }
}

pub(super) const fn words(text: String) -> ModelPart {
    ModelPart::Text { text }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
