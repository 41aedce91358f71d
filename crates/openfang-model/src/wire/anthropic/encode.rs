//! A request to Anthropic Messages.
//!
//! Three marks tell the provider what to cache: one behind the tools and the instructions, one on the last block, and an
//! anchor in between. The provider looks back 20 blocks for an earlier mark, so the anchor moves in steps of 15.

use crate::answer::Block;
use crate::capabilities::ReasoningStyle;
use crate::json::{Object, array, with_member};
use crate::request::{Item, Media, ModelRequest, Reasoning, ToolChoice};
use crate::wire::WireKind;
use crate::wire::ids::CallIds;
use crate::wire::parts::{EMPTY_MESSAGE, EMPTY_RESULT, ShownPart, shown_parts};

const ANCHOR_STEP: usize = 15;
const CACHE_MARK: &str = r#"{"type":"ephemeral"}"#;
/// The least budget of thinking that the provider accepts.
const THINKING_MIN: u32 = 1_024;

pub(in crate::wire) fn body(request: &ModelRequest) -> String {
    let options = &request.options;
    let thinking = thinking(request);
    let tools = &request.tools.advertised(WireKind::Anthropic).tools;
    let is_thinking = thinking.is_some();
    let mut object = Object::new().text("model", &request.model);
    if !tools.is_empty() {
        let tools = tools.iter().map(|tool| {
            Object::new()
                .text("name", &tool.name)
                .text("description", &tool.description)
                .raw("input_schema", &tool.schema)
                .end()
        });
        object = object
            .raw("tools", &array(tools))
            .with(tool_choice(request), |object, choice| object.raw("tool_choice", &choice));
    }
    if !request.system.is_empty() {
        let system = Object::typed("text").text("text", &request.system).raw("cache_control", CACHE_MARK).end();
        object = object.raw("system", &array([system]));
    }
    object
        .number("max_tokens", u64::from(options.max_tokens))
        .fraction("temperature", request.temperature().filter(|_| !is_thinking))
        .with(thinking, |object, thinking| object.raw("thinking", &thinking))
        .with(output_config(request, is_thinking), |object, config| object.raw("output_config", &config))
        .flag("stream", true)
        .raw("messages", &messages(request))
        .end()
}

/// The provider does not think when it is told which tool to call.
fn is_forced(request: &ModelRequest) -> bool {
    match request.options.tool_choice {
        ToolChoice::Required | ToolChoice::Tool(_) => !request.tools.is_empty(),
        ToolChoice::Auto | ToolChoice::None => false,
    }
}

fn thinking(request: &ModelRequest) -> Option<String> {
    let budget = match (request.options.reasoning, request.capabilities.reasoning) {
        (_, ReasoningStyle::None) => return None,
        (Reasoning::Default | Reasoning::Off, _) => return None,
        (Reasoning::Tokens(tokens), _) => tokens,
        (Reasoning::Low | Reasoning::Medium | Reasoning::High, ReasoningStyle::Effort) => {
            return (!is_forced(request)).then(|| Object::typed("adaptive").end());
        }
        (Reasoning::Low, ReasoningStyle::Budget) => 2_048,
        (Reasoning::Medium, ReasoningStyle::Budget) => 8_192,
        (Reasoning::High, ReasoningStyle::Budget) => 16_384,
    };
    // The budget is part of the longest answer, and must be smaller.
    let budget = budget.min(request.options.max_tokens.saturating_sub(1));
    let fits = budget >= THINKING_MIN && !is_forced(request);
    fits.then(|| Object::typed("enabled").number("budget_tokens", u64::from(budget)).end())
}

fn output_config(request: &ModelRequest, is_thinking: bool) -> Option<String> {
    let effort = match request.options.reasoning {
        Reasoning::Low => Some("low"),
        Reasoning::Medium => Some("medium"),
        Reasoning::High => Some("high"),
        Reasoning::Default | Reasoning::Off | Reasoning::Tokens(_) => None,
    };
    let effort = effort.filter(|_| is_thinking && request.capabilities.reasoning == ReasoningStyle::Effort);
    let format = request
        .options
        .output
        .as_ref()
        .map(|output| Object::typed("json_schema").raw("schema", output.schema.get()).end());
    if effort.is_none() && format.is_none() {
        return None;
    }
    let object = Object::new().with(effort, |object, effort| object.text("effort", effort));
    Some(object.with(format, |object, format| object.raw("format", &format)).end())
}

fn tool_choice(request: &ModelRequest) -> Option<String> {
    match &request.options.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Object::typed("none").end()),
        ToolChoice::Required => Some(Object::typed("any").end()),
        ToolChoice::Tool(name) => {
            let name = request.tools.advertised(WireKind::Anthropic).wire_name(name);
            Some(Object::typed("tool").text("name", &name).end())
        }
    }
}

/// A block with the role of its message.
struct RoleBlock {
    role: &'static str,
    json: String,
    /// Whether the provider takes a cache mark on it.
    is_markable: bool,
}

fn messages(request: &ModelRequest) -> String {
    let mut blocks = blocks(request);
    mark(&mut blocks);
    let runs = blocks.chunk_by(|one, two| one.role == two.role);
    array(runs.map(|run| {
        let content = array(run.iter().map(|block| &block.json));
        Object::new().text("role", run[0].role).raw("content", &content).end()
    }))
}

fn mark(blocks: &mut [RoleBlock]) {
    let Some(last) = blocks.len().checked_sub(1) else { return };
    let anchor = last.saturating_sub(1) / ANCHOR_STEP * ANCHOR_STEP;
    let at = |place: usize| (0..=place).rev().find(|place| blocks[*place].is_markable);
    let mut places = vec![at(last)];
    if anchor > 0 {
        places.push(at(anchor));
    }
    places.dedup();
    for place in places.into_iter().flatten() {
        blocks[place].json = with_member(&blocks[place].json, "cache_control", CACHE_MARK);
    }
}

fn blocks(request: &ModelRequest) -> Vec<RoleBlock> {
    let ids = CallIds::new(request, WireKind::Anthropic, None);
    let mut blocks = Vec::new();
    for (place, item) in request.items.iter().enumerate() {
        let mut push = |role, json, is_markable| blocks.push(RoleBlock { role, json, is_markable });
        match &**item {
            Item::User { parts } => {
                for part in shown_parts(request, parts, EMPTY_MESSAGE) {
                    push("user", content(&part), true);
                }
            }
            Item::Answer { blocks: said, .. } => {
                if let Some(native) = ids.native(place) {
                    for item in &native.items {
                        push("assistant", item.get().to_owned(), !item.get().contains("thinking\""));
                    }
                } else {
                    for json in canonical(request, said, ids.of(place)) {
                        push("assistant", json, true);
                    }
                }
            }
            Item::Results { results } => {
                for (result, id) in results.iter().zip(ids.of(place)) {
                    let parts = array(shown_parts(request, &result.parts, EMPTY_RESULT).iter().map(content));
                    let mut block = Object::typed("tool_result").text("tool_use_id", id).raw("content", &parts);
                    if result.is_error {
                        block = block.flag("is_error", true);
                    }
                    push("user", block.end(), true);
                }
            }
        }
    }
    blocks
}

fn canonical(request: &ModelRequest, said: &[Block], ids: &[String]) -> Vec<String> {
    let mut ids = ids.iter();
    let tools = request.tools.advertised(WireKind::Anthropic);
    let blocks = said.iter().filter_map(|block| match block {
        Block::Text { text } if text.trim().is_empty() => None,
        Block::Text { text } => Some(text_block(text)),
        Block::Thinking { .. } => None,
        Block::Call(call) => {
            let block = Object::typed("tool_use")
                .text("id", ids.next().map_or(&call.id, |id| id))
                .text("name", &tools.wire_name(&call.name))
                .raw("input", call.arguments.as_json());
            Some(block.end())
        }
    });
    blocks.collect()
}

fn text_block(text: &str) -> String {
    Object::typed("text").text("text", text).end()
}

fn content(part: &ShownPart<'_>) -> String {
    match part {
        ShownPart::Text(text) => text_block(text),
        ShownPart::Image(media) => Object::typed("image").raw("source", &source(media)).end(),
        ShownPart::Audio(media) => text_block(&format!("[audio ({}) left out]", media.media_type)),
    }
}

fn source(media: &Media) -> String {
    Object::typed("base64")
        .text("media_type", &media.media_type)
        .text("data", &media.data)
        .end()
}
