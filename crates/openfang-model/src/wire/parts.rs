//! What the encoders share: which items are replayed, and what stands for media that a model cannot take.

use super::WireKind;
use crate::answer::NativeItems;
use crate::json::{Object, array, string};
use crate::request::{CallResult, Media, ModelRequest, Part, ToolChoice};
use crate::tools::AdvertisedTools;

pub(super) const EMPTY_MESSAGE: &str = "(empty message)";
pub(super) const EMPTY_RESULT: &str = "(no output)";

/// Tools as functions, in the form that OpenAI Chat and Ollama share.
pub(super) fn functions(tools: &AdvertisedTools) -> String {
    array(tools.tools.iter().map(|tool| {
        let function = Object::new()
            .text("name", &tool.name)
            .text("description", &tool.description)
            .raw("parameters", &tool.schema);
        Object::typed("function").raw("function", &function.end()).end()
    }))
}

/// The choice of tools in the words of OpenAI. `named` writes the choice of one tool.
pub(super) fn tool_choice(request: &ModelRequest, wire: WireKind, named: fn(&str) -> String) -> Option<String> {
    match &request.options.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(string("none")),
        ToolChoice::Required => Some(string("required")),
        ToolChoice::Tool(name) => Some(named(&request.tools.advertised(wire).wire_name(name))),
    }
}

/// The items of an earlier answer that may be sent back as they came.
pub(super) fn replayed<'a>(
    request: &ModelRequest,
    wire: WireKind,
    native: Option<&'a NativeItems>,
) -> Option<&'a NativeItems> {
    native
        .filter(|native| request.options.replay_native && !native.items.is_empty() && native.fits(wire, &request.model))
}

/// A part as the model gets it.
pub(super) enum ShownPart<'a> {
    Text(String),
    Image(&'a Media),
    Audio(&'a Media),
}

/// What the model can take of a part. The rest becomes a sentence.
fn shown<'a>(request: &ModelRequest, part: &'a Part) -> ShownPart<'a> {
    let left_out = |what: &str, media: &Media| {
        ShownPart::Text(format!("[{what} ({}) left out: this model cannot take it]", media.media_type))
    };
    match part {
        Part::Text { text } => ShownPart::Text(text.clone()),
        Part::Image(media) if request.capabilities.images => ShownPart::Image(media),
        Part::Image(media) => left_out("image", media),
        Part::Audio(media) if request.capabilities.audio => ShownPart::Audio(media),
        Part::Audio(media) => left_out("audio", media),
    }
}

/// What the model can take of parts. Providers reject blank text and empty messages: `empty` stands for nothing.
pub(super) fn shown_parts<'a>(request: &ModelRequest, parts: &'a [Part], empty: &str) -> Vec<ShownPart<'a>> {
    let is_blank = |part: &ShownPart<'_>| matches!(part, ShownPart::Text(text) if text.trim().is_empty());
    let mut shown: Vec<_> = parts.iter().map(|part| shown(request, part)).filter(|part| !is_blank(part)).collect();
    if shown.is_empty() {
        shown.push(ShownPart::Text(empty.to_owned()));
    }
    shown
}

/// A result as text, and the media that have to follow in another place.
pub(super) fn text_and_media<'a>(request: &ModelRequest, result: &'a CallResult) -> (String, Vec<ShownPart<'a>>) {
    let mut texts = Vec::new();
    let mut media = Vec::new();
    for part in shown_parts(request, &result.parts, EMPTY_RESULT) {
        match part {
            ShownPart::Text(text) => texts.push(text),
            other => {
                texts.push(format!("[see the media from {} below]", result.name));
                media.push(other);
            }
        }
    }
    (texts.join("\n"), media)
}

/// Media in the form of a URL.
pub(super) fn data_url(media: &Media) -> String {
    format!("data:{};base64,{}", media.media_type, media.data)
}

/// The last part of a media type, such as `wav`.
pub(super) fn format_of(media: &Media) -> &str {
    match media.media_type.rsplit('/').next().unwrap_or_default() {
        "mpeg" => "mp3",
        "x-wav" => "wav",
        other => other,
    }
}
