//! A request to Gemini `streamGenerateContent`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::answer::{Block, NativeItems};
use crate::capabilities::ReasoningStyle;
use crate::json::{Object, array, string};
use crate::request::{CallResult, Item, Media, ModelRequest, Reasoning, ToolChoice};
use crate::wire::WireKind;
use crate::wire::parts::{EMPTY_MESSAGE, EMPTY_RESULT, ShownPart, replayed, shown_parts, text_and_media};

/// What stands in a path as it is.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path for a model. Its name may come with or without `models/`.
pub(in crate::wire) fn path(model: &str) -> String {
    let name = model.strip_prefix("models/").unwrap_or(model);
    format!("/models/{}:streamGenerateContent?alt=sse", utf8_percent_encode(name, IN_PATH))
}

pub(in crate::wire) fn body(request: &ModelRequest) -> String {
    let tools = &request.tools.advertised(WireKind::Gemini).tools;
    let mut object = Object::new();
    if !tools.is_empty() {
        let declarations = tools.iter().map(|tool| {
            Object::new()
                .text("name", &tool.name)
                .text("description", &tool.description)
                .raw("parametersJsonSchema", &tool.schema)
                .end()
        });
        let tools = Object::new().raw("functionDeclarations", &array(declarations)).end();
        object = object
            .raw("tools", &array([tools]))
            .with(tool_config(request), |object, config| object.raw("toolConfig", &config));
    }
    if !request.system.is_empty() {
        let system = Object::new().raw("parts", &array([text_part(&request.system)])).end();
        object = object.raw("systemInstruction", &system);
    }
    object
        .raw("generationConfig", &generation_config(request))
        .raw("contents", &array(contents(request)))
        .end()
}

fn tool_config(request: &ModelRequest) -> Option<String> {
    let config = match &request.options.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => Object::new().text("mode", "NONE"),
        ToolChoice::Required => Object::new().text("mode", "ANY"),
        ToolChoice::Tool(name) => {
            let name = request.tools.advertised(WireKind::Gemini).wire_name(name);
            Object::new().text("mode", "ANY").raw("allowedFunctionNames", &array([string(&name)]))
        }
    };
    Some(Object::new().raw("functionCallingConfig", &config.end()).end())
}

fn generation_config(request: &ModelRequest) -> String {
    let options = &request.options;
    Object::new()
        .number("maxOutputTokens", u64::from(options.max_tokens))
        .fraction("temperature", request.temperature())
        .with(thinking(request), |object, thinking| object.raw("thinkingConfig", &thinking))
        .with(options.output.as_ref(), |object, output| {
            object
                .text("responseMimeType", "application/json")
                .raw("responseJsonSchema", output.schema.get())
        })
        .end()
}

/// Models of the third generation take a level, those of the second a budget.
fn thinking(request: &ModelRequest) -> Option<String> {
    let level = |level: &str| Some(Object::new().flag("includeThoughts", true).text("thinkingLevel", level).end());
    let budget = |tokens: u32| {
        let config = Object::new()
            .flag("includeThoughts", tokens > 0)
            .number("thinkingBudget", u64::from(tokens));
        Some(config.end())
    };
    match (request.options.reasoning, request.capabilities.reasoning) {
        (_, ReasoningStyle::None) | (Reasoning::Default, _) => None,
        (Reasoning::Off, ReasoningStyle::Effort) => level("MINIMAL"),
        (Reasoning::Low, ReasoningStyle::Effort) => level("LOW"),
        (Reasoning::Medium, ReasoningStyle::Effort) => level("MEDIUM"),
        (Reasoning::High, ReasoningStyle::Effort) => level("HIGH"),
        (Reasoning::Off, ReasoningStyle::Budget) => budget(0),
        (Reasoning::Low, ReasoningStyle::Budget) => budget(2_048),
        (Reasoning::Medium, ReasoningStyle::Budget) => budget(8_192),
        (Reasoning::High, ReasoningStyle::Budget) => budget(24_576),
        (Reasoning::Tokens(tokens), _) => budget(tokens),
    }
}

fn contents(request: &ModelRequest) -> Vec<String> {
    let mut contents = Vec::new();
    let mut ids: Vec<Option<String>> = Vec::new();
    for item in &request.items {
        match &**item {
            Item::User { parts } => {
                let parts = array(shown_parts(request, parts, EMPTY_MESSAGE).iter().map(part));
                contents.push(content("user", &parts));
            }
            Item::Answer { blocks, native } => {
                let native = replayed(request, WireKind::Gemini, native.as_ref());
                ids = native.map(native_ids).unwrap_or_default();
                let parts = match native {
                    Some(native) => native.items.iter().map(|item| item.get().to_owned()).collect(),
                    None => canonical(request, blocks),
                };
                if !parts.is_empty() {
                    contents.push(content("model", &array(parts)));
                }
            }
            Item::Results { results } => push_results(request, results, &std::mem::take(&mut ids), &mut contents),
        }
    }
    contents
}

/// The ids that the provider gave to its calls, if it gave any.
fn native_ids(native: &NativeItems) -> Vec<Option<String>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CallPart {
        function_call: FunctionCall,
    }
    #[derive(Deserialize)]
    struct FunctionCall {
        id: Option<String>,
    }
    let calls = native.items.iter().filter_map(|item| serde_json::from_str::<CallPart>(item.get()).ok());
    calls.map(|part| part.function_call.id).collect()
}

fn content(role: &str, parts: &str) -> String {
    Object::new().text("role", role).raw("parts", parts).end()
}

fn canonical(request: &ModelRequest, blocks: &[Block]) -> Vec<String> {
    let tools = request.tools.advertised(WireKind::Gemini);
    let parts = blocks.iter().filter_map(|block| match block {
        Block::Text { text } if text.trim().is_empty() => None,
        Block::Text { text } => Some(text_part(text)),
        Block::Thinking { .. } => None,
        Block::Call(call) => {
            let function = Object::new()
                .text("name", &tools.wire_name(&call.name))
                .raw("args", call.arguments.as_json());
            Some(Object::new().raw("functionCall", &function.end()).end())
        }
    });
    parts.collect()
}

fn push_results(request: &ModelRequest, results: &[CallResult], ids: &[Option<String>], contents: &mut Vec<String>) {
    let mut behind = Vec::new();
    let responses = results.iter().enumerate().map(|(place, result)| {
        let id = ids.get(place).and_then(Option::as_deref);
        if request.capabilities.media_in_results {
            return response(request, result, id, &shown_parts(request, &result.parts, EMPTY_RESULT));
        }
        let (text, media) = text_and_media(request, result);
        if !media.is_empty() {
            behind.push(ShownPart::Text(format!("From {}:", result.name)));
            behind.extend(media);
        }
        response(request, result, id, &[ShownPart::Text(text)])
    });
    let parts = array(responses.collect::<Vec<_>>());
    contents.push(content("user", &parts));
    if !behind.is_empty() {
        contents.push(content("user", &array(behind.iter().map(part))));
    }
}

fn response(request: &ModelRequest, result: &CallResult, id: Option<&str>, parts: &[ShownPart<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        ShownPart::Text(text) => Some(text.as_str()),
        ShownPart::Image(_) | ShownPart::Audio(_) => None,
    });
    let member = if result.is_error { "error" } else { "output" };
    let output = Object::new().text(member, &texts.collect::<Vec<_>>().join("\n")).end();
    let media = parts.iter().filter(|part| !matches!(part, ShownPart::Text(_)));
    let media: Vec<String> = media.map(part).collect();
    let mut function = Object::new()
        .with(id, |object, id| object.text("id", id))
        .text("name", &request.tools.advertised(WireKind::Gemini).wire_name(&result.name))
        .raw("response", &output);
    if !media.is_empty() {
        function = function.raw("parts", &array(media));
    }
    Object::new().raw("functionResponse", &function.end()).end()
}

fn part(part: &ShownPart<'_>) -> String {
    match part {
        ShownPart::Text(text) => text_part(text),
        ShownPart::Image(media) | ShownPart::Audio(media) => inline_data(media),
    }
}

fn text_part(text: &str) -> String {
    Object::new().text("text", text).end()
}

fn inline_data(media: &Media) -> String {
    let blob = Object::new().text("mimeType", &media.media_type).text("data", &media.data).end();
    Object::new().raw("inlineData", &blob).end()
}
