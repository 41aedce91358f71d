//! A response as what a model can read: HTML as Markdown, JSON with indents, text as it is, pictures and PDF files as blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_types::content::{Block, ContentBlock, NotABlock};
use openfang_types::limits::WEB_JSON_INDENTED_BYTES;
use serde_json::{Value, json};
use url::Url;

use super::charset::decode;
use super::escape::is_shown;
use super::markdown;

/// The content of a response.
pub(crate) struct Content {
    /// The media type, without parameters and in lower case.
    pub(crate) media_type: String,
    pub(crate) title: Option<String>,
    pub(crate) form: Form,
}

/// What the content became.
pub(crate) enum Form {
    Text {
        text: String,
        /// Whether the page makes more text than is kept.
        is_cut: bool,
    },
    /// An image or a document.
    Block(Block),
    /// Nothing that a tool result can carry.
    Opaque,
}

/// Reads a body. Takes time: it is work for a thread of its own.
pub(crate) fn read(bytes: &[u8], content_type: &str, url: &Url) -> Content {
    let named = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let media_type = if named.is_empty() { guessed(bytes).to_owned() } else { named };
    let mut title = None;
    let form = match media_type.as_str() {
        _ if bytes.is_empty() => whole(String::new()),
        "text/html" | "application/xhtml+xml" => {
            let page = markdown::convert(&decode(bytes, content_type), url);
            title = page.title;
            Form::Text { text: page.markdown, is_cut: page.is_cut }
        }
        json if json == "application/json" || json.ends_with("+json") => whole(indented(decode(bytes, content_type))),
        text if is_text(text) => whole(decode(bytes, content_type)),
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            block(&ContentBlock::Image { data: STANDARD.encode(bytes), mime_type: media_type.clone() })
        }
        "application/pdf" => {
            let blob = STANDARD.encode(bytes);
            let resource = json!({ "uri": url.as_str(), "mimeType": media_type, "blob": blob });
            block(&ContentBlock::Resource { resource })
        }
        _ => Form::Opaque,
    };
    Content { media_type, title, form }
}

fn block(content: &ContentBlock) -> Form {
    match Block::of(content) {
        Ok(block) => Form::Block(block),
        Err(NotABlock) => Form::Opaque,
    }
}

/// Text without the characters that nobody sees.
fn whole(text: String) -> Form {
    let is_kept = |c: char| is_shown(c) || matches!(c, '\n' | '\t');
    let text = if text.chars().all(is_kept) { text } else { text.chars().filter(|c| is_kept(*c)).collect() };
    Form::Text { text, is_cut: false }
}

fn indented(text: String) -> String {
    if text.len() >= WEB_JSON_INDENTED_BYTES {
        return text;
    }
    let parsed = serde_json::from_str::<Value>(&text).ok();
    parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or(text)
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+xml") && media_type != "image/svg+xml"
        || media_type.ends_with("+yaml")
        || matches!(
            media_type,
            "application/xml"
                | "application/javascript"
                | "application/ecmascript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/x-ndjson"
                | "application/sql"
                | "application/x-sh"
                | "application/x-www-form-urlencoded"
        )
}

/// The media type of a body that comes without one.
fn guessed(bytes: &[u8]) -> &'static str {
    let head = String::from_utf8_lossy(bytes.get(..256).unwrap_or(bytes)).to_ascii_lowercase();
    let head = head.trim_start();
    if head.starts_with("<!doctype html") || head.starts_with("<html") {
        "text/html"
    } else if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() {
        "application/octet-stream"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
