//! A request to OpenAI Chat Completions and its lookalikes.

use crate::answer::{Block, Call};
use crate::capabilities::ReasoningStyle;
use crate::endpoint::Quirks;
use crate::json::{Object, array, string};
use crate::request::{CallResult, Item, ModelRequest, Reasoning};
use crate::wire::WireKind;
use crate::wire::ids::CallIds;
use crate::wire::parts::{
    EMPTY_MESSAGE, ShownPart, data_url, format_of, functions, shown_parts, text_and_media, tool_choice,
};

/// The length of the ids that some servers demand.
const SHORT_ID: usize = 9;

pub(in crate::wire) fn body(request: &ModelRequest, quirks: &Quirks) -> String {
    let options = &request.options;
    let mut object = Object::new().text("model", &request.model);
    if !request.tools.is_empty() {
        let choice = tool_choice(request, WireKind::Chat, named_choice);
        object = object.raw("tools", &functions(request.tools.advertised(WireKind::Chat)));
        object = object.with(choice, |object, choice| object.raw("tool_choice", &choice));
    }
    let limit = if quirks.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    object
        .number(limit, u64::from(options.max_tokens))
        .fraction("temperature", request.temperature())
        .with(effort(request), |object, effort| object.text("reasoning_effort", effort))
        .with(options.output.as_ref(), |object, output| {
            let schema = Object::new().text("name", &output.name).raw("schema", output.schema.get()).end();
            object.raw("response_format", &Object::typed("json_schema").raw("json_schema", &schema).end())
        })
        .flag("stream", true)
        .raw("stream_options", r#"{"include_usage":true}"#)
        .raw("messages", &array(messages(request, quirks)))
        .end()
}

fn effort(request: &ModelRequest) -> Option<&'static str> {
    if request.capabilities.reasoning != ReasoningStyle::Effort {
        return None;
    }
    match request.options.reasoning {
        Reasoning::Default => None,
        Reasoning::Off => Some("none"),
        Reasoning::Low => Some("low"),
        Reasoning::Medium => Some("medium"),
        Reasoning::High => Some("high"),
        Reasoning::Tokens(tokens) => Some(effort_of(tokens)),
    }
}

/// The effort that comes nearest to a number of tokens.
pub(in crate::wire) fn effort_of(tokens: u32) -> &'static str {
    match tokens {
        0..4_096 => "low",
        4_096..12_288 => "medium",
        _ => "high",
    }
}

fn named_choice(name: &str) -> String {
    Object::typed("function").raw("function", &Object::new().text("name", name).end()).end()
}

fn messages(request: &ModelRequest, quirks: &Quirks) -> Vec<String> {
    let ids = CallIds::new(request, WireKind::Chat, quirks.short_call_ids.then_some(SHORT_ID));
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(message("system", &string(&request.system)));
    }
    for (place, item) in request.items.iter().enumerate() {
        match &**item {
            Item::User { parts } => {
                messages.push(message("user", &content(&shown_parts(request, parts, EMPTY_MESSAGE))));
            }
            Item::Answer { blocks, .. } => match ids.native(place) {
                Some(native) => messages.extend(native.items.iter().map(|item| item.get().to_owned())),
                None => messages.push(canonical(request, blocks, ids.of(place))),
            },
            Item::Results { results } => push_results(request, results, ids.of(place), &mut messages),
        }
    }
    messages
}

fn message(role: &str, content: &str) -> String {
    Object::new().text("role", role).raw("content", content).end()
}

/// Results are text only on this wire: media follow in a message of the user.
fn push_results(request: &ModelRequest, results: &[CallResult], ids: &[String], messages: &mut Vec<String>) {
    let mut behind = Vec::new();
    for (result, id) in results.iter().zip(ids) {
        let (text, media) = text_and_media(request, result);
        let text = if result.is_error { format!("Error: {text}") } else { text };
        messages.push(Object::new().text("role", "tool").text("tool_call_id", id).text("content", &text).end());
        if !media.is_empty() {
            behind.push(ShownPart::Text(format!("From {}:", result.name)));
            behind.extend(media);
        }
    }
    if !behind.is_empty() {
        messages.push(message("user", &content(&behind)));
    }
}

fn canonical(request: &ModelRequest, blocks: &[Block], ids: &[String]) -> String {
    let tools = request.tools.advertised(WireKind::Chat);
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut ids = ids.iter();
    for block in blocks {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::Thinking { .. } => {}
            Block::Call(call) => {
                let id = ids.next().map_or(call.id.as_str(), String::as_str);
                calls.push(tool_call(id, &tools.wire_name(&call.name), call));
            }
        }
    }
    assistant(&text, &calls).end()
}

fn tool_call(id: &str, name: &str, call: &Call) -> String {
    let function = Object::new().text("name", name).text("arguments", call.arguments.as_json()).end();
    Object::new().text("id", id).text("type", "function").raw("function", &function).end()
}

/// A message of the model. Without calls it must have content.
pub(super) fn assistant(text: &str, calls: &[String]) -> Object {
    let mut object = Object::new().text("role", "assistant");
    if !text.is_empty() || calls.is_empty() {
        object = object.text("content", text);
    }
    if !calls.is_empty() {
        object = object.raw("tool_calls", &array(calls));
    }
    object
}

/// Text alone stays a string, which every lookalike takes.
fn content(parts: &[ShownPart<'_>]) -> String {
    if let [ShownPart::Text(text)] = parts {
        return string(text);
    }
    array(parts.iter().map(|part| match part {
        ShownPart::Text(text) => Object::typed("text").text("text", text).end(),
        ShownPart::Image(media) => {
            let url = Object::new().text("url", &data_url(media)).end();
            Object::typed("image_url").raw("image_url", &url).end()
        }
        ShownPart::Audio(media) => {
            let audio = Object::new().text("data", &media.data).text("format", format_of(media)).end();
            Object::typed("input_audio").raw("input_audio", &audio).end()
        }
    }))
}
