//! A request to OpenAI Responses. Nothing is stored at the provider, so reasoning comes encrypted and goes back with the
//! next request.

use crate::answer::Block;
use crate::capabilities::ReasoningStyle;
use crate::json::{Object, array, string};
use crate::request::{CallResult, Item, ModelRequest, Reasoning};
use crate::wire::WireKind;
use crate::wire::chat::encode::effort_of;
use crate::wire::ids::CallIds;
use crate::wire::parts::{EMPTY_MESSAGE, EMPTY_RESULT, ShownPart, data_url, format_of, shown_parts, tool_choice};

pub(in crate::wire) fn body(request: &ModelRequest) -> String {
    let options = &request.options;
    let tools = &request.tools.advertised(WireKind::Responses).tools;
    let mut object = Object::new().text("model", &request.model);
    if !tools.is_empty() {
        // Without `strict` the provider rewrites the schema and makes every property required.
        let tools = tools.iter().map(|tool| {
            Object::typed("function")
                .text("name", &tool.name)
                .text("description", &tool.description)
                .raw("parameters", &tool.schema)
                .flag("strict", false)
                .end()
        });
        object = object
            .raw("tools", &array(tools))
            .with(tool_choice(request, WireKind::Responses, named_choice), |object, choice| {
                object.raw("tool_choice", &choice)
            });
    }
    if !request.system.is_empty() {
        object = object.text("instructions", &request.system);
    }
    object
        .number("max_output_tokens", u64::from(options.max_tokens))
        .fraction("temperature", request.temperature())
        .with(reasoning(request), |object, reasoning| object.raw("reasoning", &reasoning))
        .with(options.output.as_ref(), |object, output| {
            let format = Object::typed("json_schema")
                .text("name", &output.name)
                .raw("schema", output.schema.get())
                .flag("strict", false);
            object.raw("text", &Object::new().raw("format", &format.end()).end())
        })
        .flag("store", false)
        .raw("include", r#"["reasoning.encrypted_content"]"#)
        .flag("stream", true)
        .raw("input", &array(input(request)))
        .end()
}

fn reasoning(request: &ModelRequest) -> Option<String> {
    if request.capabilities.reasoning == ReasoningStyle::None {
        return None;
    }
    let effort = match request.options.reasoning {
        Reasoning::Default => None,
        Reasoning::Off => return Some(Object::new().text("effort", "none").end()),
        Reasoning::Low => Some("low"),
        Reasoning::Medium => Some("medium"),
        Reasoning::High => Some("high"),
        Reasoning::Tokens(tokens) => Some(effort_of(tokens)),
    };
    Some(
        Object::new()
            .with(effort, |object, effort| object.text("effort", effort))
            .text("summary", "auto")
            .end(),
    )
}

fn named_choice(name: &str) -> String {
    Object::typed("function").text("name", name).end()
}

fn input(request: &ModelRequest) -> Vec<String> {
    let ids = CallIds::new(request, WireKind::Responses, None);
    let mut input = Vec::new();
    for (place, item) in request.items.iter().enumerate() {
        match &**item {
            Item::User { parts } => {
                let content = array(shown_parts(request, parts, EMPTY_MESSAGE).iter().map(content));
                input.push(Object::typed("message").text("role", "user").raw("content", &content).end());
            }
            Item::Answer { blocks, .. } => match ids.native(place) {
                Some(native) => input.extend(native.items.iter().map(|item| item.get().to_owned())),
                None => input.extend(canonical(request, blocks, ids.of(place))),
            },
            Item::Results { results } => {
                input.extend(results.iter().zip(ids.of(place)).map(|(result, id)| output(request, result, id)));
            }
        }
    }
    input
}

fn canonical(request: &ModelRequest, blocks: &[Block], ids: &[String]) -> Vec<String> {
    let tools = request.tools.advertised(WireKind::Responses);
    let mut ids = ids.iter();
    let items = blocks.iter().filter_map(|block| match block {
        Block::Text { text } if text.is_empty() => None,
        Block::Text { text } => Some(Object::new().text("role", "assistant").text("content", text).end()),
        Block::Thinking { .. } => None,
        Block::Call(call) => {
            let item = Object::typed("function_call")
                .text("call_id", ids.next().map_or(&call.id, |id| id))
                .text("name", &tools.wire_name(&call.name))
                .text("arguments", call.arguments.as_json());
            Some(item.end())
        }
    });
    items.collect()
}

fn output(request: &ModelRequest, result: &CallResult, id: &str) -> String {
    let mut parts = shown_parts(request, &result.parts, EMPTY_RESULT);
    if result.is_error {
        parts.insert(0, ShownPart::Text("Error:".to_owned()));
    }
    let output = match parts.as_slice() {
        [ShownPart::Text(text)] => string(text),
        parts => array(parts.iter().map(content)),
    };
    Object::typed("function_call_output").text("call_id", id).raw("output", &output).end()
}

fn content(part: &ShownPart<'_>) -> String {
    match part {
        ShownPart::Text(text) => Object::typed("input_text").text("text", text).end(),
        ShownPart::Image(media) => Object::typed("input_image")
            .text("image_url", &data_url(media))
            .text("detail", "auto")
            .end(),
        ShownPart::Audio(media) => {
            let name = format!("audio.{}", format_of(media));
            Object::typed("input_file")
                .text("filename", &name)
                .text("file_data", &data_url(media))
                .end()
        }
    }
}
