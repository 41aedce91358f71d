//! A request to Ollama's `/api/chat`.

use crate::answer::Block;
use crate::capabilities::ReasoningStyle;
use crate::json::{Object, array, string};
use crate::request::{Item, ModelRequest, Reasoning};
use crate::wire::WireKind;
use crate::wire::parts::{EMPTY_MESSAGE, ShownPart, functions, shown_parts, text_and_media};

pub(in crate::wire) fn body(request: &ModelRequest) -> String {
    let options = &request.options;
    let mut object = Object::new().text("model", &request.model);
    if !request.tools.is_empty() {
        object = object.raw("tools", &functions(request.tools.advertised(WireKind::Ollama)));
    }
    // Without `num_ctx` the server takes a small window and drops the beginning of the prompt.
    let settings = Object::new()
        .with(options.context_tokens, |object, tokens| object.number("num_ctx", u64::from(tokens)))
        .number("num_predict", u64::from(options.max_tokens))
        .fraction("temperature", request.temperature())
        .end();
    object
        .raw("options", &settings)
        .with(think(request), |object, think| object.raw("think", &think))
        .with(options.output.as_ref(), |object, output| object.raw("format", output.schema.get()))
        .flag("stream", true)
        .raw("messages", &array(messages(request)))
        .end()
}

fn think(request: &ModelRequest) -> Option<String> {
    match (request.options.reasoning, request.capabilities.reasoning) {
        (_, ReasoningStyle::None) | (Reasoning::Default, _) => None,
        (Reasoning::Off, _) => Some("false".to_owned()),
        (Reasoning::Low, ReasoningStyle::Effort) => Some(string("low")),
        (Reasoning::Medium, ReasoningStyle::Effort) => Some(string("medium")),
        (Reasoning::High, ReasoningStyle::Effort) => Some(string("high")),
        (Reasoning::Low | Reasoning::Medium | Reasoning::High, ReasoningStyle::Budget) | (Reasoning::Tokens(_), _) => {
            Some("true".to_owned())
        }
    }
}

fn messages(request: &ModelRequest) -> Vec<String> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(Object::new().text("role", "system").text("content", &request.system).end());
    }
    for item in &request.items {
        match &**item {
            Item::User { parts } => messages.push(user(&shown_parts(request, parts, EMPTY_MESSAGE))),
            Item::Answer { blocks, .. } => messages.push(answer(request, blocks)),
            Item::Results { results } => {
                let mut behind = Vec::new();
                for result in results {
                    let (text, media) = text_and_media(request, result);
                    let text = if result.is_error { format!("Error: {text}") } else { text };
                    let name = request.tools.advertised(WireKind::Ollama).wire_name(&result.name);
                    let message = Object::new().text("role", "tool").text("tool_name", &name).text("content", &text);
                    messages.push(message.end());
                    if !media.is_empty() {
                        behind.push(ShownPart::Text(format!("From {}:", result.name)));
                        behind.extend(media);
                    }
                }
                if !behind.is_empty() {
                    messages.push(user(&behind));
                }
            }
        }
    }
    messages
}

fn user(parts: &[ShownPart<'_>]) -> String {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in parts {
        match part {
            ShownPart::Text(text) => texts.push(text.clone()),
            ShownPart::Image(media) => images.push(string(&media.data)),
            ShownPart::Audio(media) => texts.push(format!("[audio ({}) left out]", media.media_type)),
        }
    }
    let mut message = Object::new().text("role", "user").text("content", &texts.join("\n"));
    if !images.is_empty() {
        message = message.raw("images", &array(images));
    }
    message.end()
}

/// What the model said. The server keeps nothing that would have to come back, so there are no native items here.
fn answer(request: &ModelRequest, blocks: &[Block]) -> String {
    let tools = request.tools.advertised(WireKind::Ollama);
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::Thinking { .. } => {}
            Block::Call(call) => {
                let name = tools.wire_name(&call.name);
                let function = Object::new().text("name", &name).raw("arguments", call.arguments.as_json()).end();
                calls.push(Object::new().raw("function", &function).end());
            }
        }
    }
    let mut message = Object::new().text("role", "assistant").text("content", &text);
    if !calls.is_empty() {
        message = message.raw("tool_calls", &array(calls));
    }
    message.end()
}
