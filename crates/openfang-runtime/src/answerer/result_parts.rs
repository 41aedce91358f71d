//! The result of a tool as the parts of an artifact: text stays text, media and embedded resources become files, links keep
//! what was said about them, and the structured result comes last as data.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::task::{Part, PartBody};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a result says. A text that is only the structured result once more is left out.
pub(super) fn parts_of(output: &ToolOutput) -> Vec<Part> {
    let structured = output.structured_value();
    let is_repeated = |block: &&Block| match (block.content(), &structured) {
        (ContentBlock::Text { text }, Some(structured)) => {
            serde_json::from_str::<Value>(&text).is_ok_and(|said| said == *structured)
        }
        _ => false,
    };
    let blocks = output.content.iter().filter(|block| !is_repeated(block));
    let mut parts: Vec<Part> = blocks.map(part_of).collect();
    parts.extend(structured.map(Part::data));
    parts
}

fn part_of(block: &Block) -> Part {
    match block.content() {
        ContentBlock::Text { text } => Part::text(text),
        ContentBlock::Image { data, mime_type } | ContentBlock::Audio { data, mime_type } => {
            match STANDARD.decode(&data) {
                Ok(bytes) => Part::file(bytes, None, Some(mime_type)),
                Err(_) => Part::text(format!("[{mime_type} left out: it is not base64]")),
            }
        }
        ContentBlock::ResourceLink { uri, name } => link(uri, name, block),
        ContentBlock::Resource { resource } => embedded(resource),
    }
}

/// A link, with what its block says about it.
fn link(uri: String, name: String, block: &Block) -> Part {
    let said = block.written().and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
    let mut said = said.unwrap_or_default();
    let media_type = said.remove("mimeType").and_then(|kind| kind.as_str().map(str::to_owned));
    said.retain(|member, _| ["title", "description", "size"].contains(&member.as_str()));
    Part { filename: Some(name.into()), media_type, metadata: said, ..Part::new(PartBody::Url(uri)) }
}

/// An embedded resource: its text, or its bytes. What is neither stays data.
fn embedded(resource: Value) -> Part {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Contents {
        uri: String,
        #[serde(default)]
        mime_type: Option<String>,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        blob: Option<String>,
    }
    let Ok(Contents { uri, mime_type, text, blob }) = Contents::deserialize(&resource) else {
        return Part::data(resource);
    };
    let body = match (text, blob.map(|blob| STANDARD.decode(blob))) {
        (Some(text), _) => PartBody::Text(text),
        (None, Some(Ok(bytes))) => PartBody::Raw(bytes),
        (None, Some(Err(_)) | None) => return Part::data(resource),
    };
    let name = uri.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or(&uri);
    Part {
        filename: Some(name.to_owned().into()),
        media_type: mime_type,
        metadata: Map::from_iter([("uri".to_owned(), Value::from(uri.as_str()))]),
        ..Part::new(body)
    }
}

#[cfg(test)]
#[path = "result_parts_tests.rs"]
mod tests;
