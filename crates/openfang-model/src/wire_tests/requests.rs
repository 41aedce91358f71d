//! What is sent: the shape that each provider documents, the same bytes every time, and a prefix that stays.

use std::sync::Arc;

use serde_json::{Value, json};

use super::replays::{body, followed};
use super::request;
use super::samples::sample;
use crate::answer::{Block, Call, CallArguments};
use crate::endpoint::Quirks;
use crate::request::{CallResult, Item, Media, ModelRequest, OutputSchema, Part, Reasoning, ToolChoice};
use crate::validity::Unencodable;
use crate::wire::{WireKind, encode};

fn picture() -> Part {
    Part::Image(Media { media_type: "image/png".to_owned(), data: Arc::from("iVBORw0KGgo=") })
}

fn call(id: &str) -> Block {
    Block::Call(Call {
        id: id.to_owned(),
        name: "add_numbers".to_owned(),
        arguments: CallArguments::parse("{\"a\":3,\"b\":7}"),
    })
}

fn result(id: &str, parts: Vec<Part>) -> CallResult {
    CallResult { call: id.to_owned(), name: "add_numbers".to_owned(), parts, is_error: false }
}

#[test]
fn the_whole_request_of_each_wire_has_the_documented_members() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } }, "required": ["a", "b"],
    });
    let only = |wire| {
        let mut request = request(wire);
        request.tools = Arc::new(request.tools.without("multiply"));
        body(wire, &request)
    };
    assert_eq!(
        only(WireKind::Anthropic),
        json!({
            "model": "claude-sonnet-4-6", "max_tokens": 8192, "stream": true,
            "tools": [{ "name": "add_numbers", "description": "Adds two numbers.", "input_schema": schema }],
            "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
            "messages": [{ "role": "user", "content": [
                { "type": "text", "text": "What is 3 + 7?", "cache_control": { "type": "ephemeral" } },
            ] }],
        })
    );
    assert_eq!(
        only(WireKind::Responses),
        json!({
            "model": "gpt-5.2", "max_output_tokens": 8192, "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "instructions": "Be brief.", "reasoning": { "summary": "auto" },
            "tools": [{ "type": "function", "name": "add_numbers", "description": "Adds two numbers.", "parameters": schema, "strict": false }],
            "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "What is 3 + 7?" }] }],
        })
    );
    let function = json!({ "type": "function", "function": { "name": "add_numbers", "description": "Adds two numbers.", "parameters": schema } });
    let messages =
        json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "What is 3 + 7?" }]);
    assert_eq!(
        only(WireKind::Chat),
        json!({
            "model": "gpt-4.1", "max_tokens": 8192, "stream": true, "stream_options": { "include_usage": true },
            "tools": [function], "messages": messages,
        })
    );
    assert_eq!(
        only(WireKind::Gemini),
        json!({
            "tools": [{ "functionDeclarations": [
                { "name": "add_numbers", "description": "Adds two numbers.", "parametersJsonSchema": schema },
            ] }],
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
            "generationConfig": { "maxOutputTokens": 8192 },
            "contents": [{ "role": "user", "parts": [{ "text": "What is 3 + 7?" }] }],
        })
    );
    assert_eq!(
        only(WireKind::Ollama),
        json!({
            "model": "qwen3:8b", "stream": true, "options": { "num_predict": 8192 }, "tools": [function], "messages": messages,
        })
    );
}

#[test]
fn options_reach_each_wire_under_its_own_names() {
    let of = |wire| {
        let mut request = request(wire);
        request.options.temperature = Some(0.3);
        request.options.reasoning = Reasoning::High;
        request.options.tool_choice = ToolChoice::Tool("multiply".to_owned());
        request.options.context_tokens = Some(16_384);
        let schema = serde_json::value::to_raw_value(&json!({ "type": "object" })).unwrap();
        request.options.output = Some(OutputSchema { name: "answer".to_owned(), schema });
        body(wire, &request)
    };
    let anthropic = of(WireKind::Anthropic);
    assert_eq!(anthropic["tool_choice"], json!({ "type": "tool", "name": "multiply" }));
    assert_eq!(
        anthropic["output_config"],
        json!({ "format": { "type": "json_schema", "schema": { "type": "object" } } })
    );
    assert_eq!(anthropic.get("thinking"), None, "a forced call and thinking exclude each other");
    let responses = of(WireKind::Responses);
    assert_eq!(responses["reasoning"], json!({ "effort": "high", "summary": "auto" }));
    assert_eq!(responses["tool_choice"], json!({ "type": "function", "name": "multiply" }));
    assert_eq!(responses["text"]["format"]["type"], "json_schema");
    let chat = of(WireKind::Chat);
    assert_eq!(chat["tool_choice"], json!({ "type": "function", "function": { "name": "multiply" } }));
    assert_eq!(chat["response_format"]["json_schema"]["name"], "answer");
    assert_eq!(chat["temperature"], 0.3);
    let gemini = of(WireKind::Gemini);
    assert_eq!(
        gemini["toolConfig"]["functionCallingConfig"],
        json!({ "mode": "ANY", "allowedFunctionNames": ["multiply"] })
    );
    assert_eq!(
        gemini["generationConfig"]["thinkingConfig"],
        json!({ "includeThoughts": true, "thinkingLevel": "HIGH" })
    );
    assert_eq!(gemini["generationConfig"]["responseJsonSchema"], json!({ "type": "object" }));
    let ollama = of(WireKind::Ollama);
    assert_eq!(ollama["options"], json!({ "num_ctx": 16384, "num_predict": 8192, "temperature": 0.3 }));
    assert_eq!((ollama["think"].clone(), ollama["format"].clone()), (json!(true), json!({ "type": "object" })));
}

#[test]
fn thinking_of_anthropic_comes_as_effort_or_as_a_budget_below_the_longest_answer() {
    let of = |model: &str, reasoning| {
        let mut request = request(WireKind::Anthropic);
        request.capabilities = crate::Capabilities::of(model);
        request.options.reasoning = reasoning;
        request.options.temperature = Some(0.5);
        body(WireKind::Anthropic, &request)
    };
    let effort = of("claude-sonnet-4-6", Reasoning::Medium);
    assert_eq!(
        (&effort["thinking"], &effort["output_config"]),
        (&json!({ "type": "adaptive" }), &json!({ "effort": "medium" }))
    );
    assert_eq!(effort.get("temperature"), None, "temperature and thinking exclude each other");
    let budget = of("claude-sonnet-4-5", Reasoning::High);
    assert_eq!(budget["thinking"], json!({ "type": "enabled", "budget_tokens": 8191 }));
    assert_eq!(of("claude-3-5-haiku", Reasoning::High).get("thinking"), None);
    assert_eq!(of("claude-3-5-haiku", Reasoning::Default)["temperature"], 0.5);
    assert_eq!(of("claude-sonnet-4-6", Reasoning::Default).get("temperature"), None, "newer models reject it");
}

#[test]
fn images_in_results_go_where_each_wire_takes_them() {
    let of = |wire, model: &str| {
        let mut request = request(wire);
        request.capabilities = crate::Capabilities::of(model);
        request.items.push(Arc::new(Item::Answer { blocks: vec![call("c1")], native: None }));
        let parts = vec![Part::Text { text: "A chart:".to_owned() }, picture()];
        request.items.push(Arc::new(Item::Results { results: vec![result("c1", parts)] }));
        body(wire, &request)
    };
    let anthropic = of(WireKind::Anthropic, "claude-sonnet-4-6");
    assert_eq!(anthropic["messages"][2]["content"][0]["content"][1]["source"]["media_type"], "image/png");
    let responses = of(WireKind::Responses, "gpt-5.2");
    assert_eq!(responses["input"][2]["output"][1]["type"], "input_image");
    let chat = of(WireKind::Chat, "gpt-4.1");
    assert_eq!(chat["messages"][3]["content"], "A chart:\n[see the media from add_numbers below]");
    assert_eq!(chat["messages"][4]["role"], "user");
    assert_eq!(chat["messages"][4]["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=");
    let gemini = of(WireKind::Gemini, "gemini-3-pro");
    assert_eq!(
        gemini["contents"][2]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]["mimeType"],
        "image/png"
    );
    let older = of(WireKind::Gemini, "gemini-2.5-flash");
    assert_eq!(older["contents"][3]["parts"][1]["inlineData"]["data"], "iVBORw0KGgo=");
    let ollama = of(WireKind::Ollama, "gemma3");
    assert_eq!(ollama["messages"][4]["images"], json!(["iVBORw0KGgo="]));
    let blind = of(WireKind::Ollama, "qwen3:8b");
    assert_eq!(blind["messages"][3]["content"], "A chart:\n[image (image/png) left out: this model cannot take it]");
}

#[test]
fn failed_results_say_so_on_every_wire() {
    for wire in WireKind::ALL {
        let mut request = request(wire);
        request.items.push(Arc::new(Item::Answer { blocks: vec![call("c1")], native: None }));
        let failed =
            CallResult { is_error: true, ..result("c1", vec![Part::Text { text: "no such file".to_owned() }]) };
        request.items.push(Arc::new(Item::Results { results: vec![failed] }));
        let text = body(wire, &request).to_string();
        assert!(text.to_lowercase().contains("error") && text.contains("no such file"), "{wire}: {text}");
    }
}

#[test]
fn ids_are_plain_and_unique_whoever_made_them() {
    let mut request = request(WireKind::Chat);
    for id in ["call_0", "call_0", "functions.add:1/ü"] {
        request.items.push(Arc::new(Item::Answer { blocks: vec![call(id)], native: None }));
        request.items.push(Arc::new(Item::Results { results: vec![result(id, Vec::new())] }));
    }
    let ids = |quirks: &Quirks| {
        let encoded = encode(WireKind::Chat, &request, quirks).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let messages = body["messages"].as_array().unwrap().clone();
        let calls: Vec<String> = messages
            .iter()
            .filter_map(|message| message["tool_calls"][0]["id"].as_str().map(str::to_owned))
            .collect();
        let results: Vec<String> = messages
            .iter()
            .filter_map(|message| message["tool_call_id"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(calls, results);
        calls
    };
    let plain = ids(&Quirks::default());
    assert_eq!(plain[0], "call_0");
    assert_ne!(plain[0], plain[1]);
    assert!(plain[2].chars().all(|letter| letter.is_ascii_alphanumeric()));
    let short = ids(&Quirks { short_call_ids: true, ..Quirks::default() });
    assert!(short.iter().all(|id| id.len() == 9), "{short:?}");
}

#[test]
fn a_conversation_that_no_provider_takes_is_refused_before_it_is_sent() {
    let of = |items: Vec<Item>| {
        let mut request = request(WireKind::Chat);
        request.items = items.into_iter().map(Arc::new).collect();
        encode(WireKind::Chat, &request, &Quirks::default()).map(drop)
    };
    let answer = |ids: &[&str]| Item::Answer { blocks: ids.iter().map(|id| call(id)).collect(), native: None };
    let results = |ids: &[&str]| Item::Results { results: ids.iter().map(|id| result(id, Vec::new())).collect() };
    let hello = || Item::user("Hello");
    let named = |call: &str| call.to_owned();
    assert_eq!(of(vec![]), Err(Unencodable::Empty));
    assert_eq!(of(vec![answer(&[])]), Err(Unencodable::NotUserFirst));
    assert_eq!(of(vec![hello(), answer(&["a"]), hello()]), Err(Unencodable::NoResult { call: named("a") }));
    assert_eq!(of(vec![hello(), answer(&["a"])]), Err(Unencodable::NoResult { call: named("a") }));
    assert_eq!(
        of(vec![hello(), answer(&["a", "b"]), results(&["a"])]),
        Err(Unencodable::NoResult { call: named("b") })
    );
    assert_eq!(of(vec![hello(), answer(&["a"]), results(&["a", "a"])]), Err(Unencodable::NoCall { call: named("a") }));
    assert_eq!(of(vec![hello(), results(&["a"])]), Err(Unencodable::NoCall { call: named("a") }));
    assert_eq!(
        of(vec![hello(), answer(&["a", "a"]), results(&["a", "a"])]),
        Err(Unencodable::SameId { call: named("a") })
    );
    assert_eq!(of(vec![hello(), answer(&["a", "b"]), results(&["a", "b"]), hello()]), Ok(()));
}

/// A run of so many steps, each with a call and its result.
fn run(wire: WireKind, steps: usize) -> ModelRequest {
    let mut request = request(wire);
    for step in 0..steps {
        let id = format!("call_{step}");
        request.items.push(Arc::new(Item::Answer { blocks: vec![call(&id)], native: None }));
        let text = format!("{step}: {}", "lorem ipsum ".repeat(150));
        request
            .items
            .push(Arc::new(Item::Results { results: vec![result(&id, vec![Part::Text { text }])] }));
    }
    request
}

#[test]
fn each_request_of_a_run_begins_with_almost_all_of_the_one_before() {
    for wire in WireKind::ALL {
        let bodies: Vec<_> = (1..=50)
            .map(|steps| encode(wire, &run(wire, steps), &Quirks::default()).unwrap().body)
            .collect();
        for pair in bodies.windows(2).skip(10) {
            let common = pair[0].iter().zip(&*pair[1]).take_while(|(one, two)| one == two).count();
            let share = common as f64 / pair[0].len() as f64;
            let is_anchor_moved = wire == WireKind::Anthropic && share > 0.3;
            assert!(share >= 0.99 || is_anchor_moved, "{wire}: {share}");
        }
        let stable = bodies.windows(2).skip(10).filter(|pair| {
            let common = pair[0].iter().zip(&*pair[1]).take_while(|(one, two)| one == two).count();
            common as f64 / pair[0].len() as f64 >= 0.99
        });
        assert!(stable.count() >= 33, "{wire}: the anchor moves rarely");
    }
}

#[test]
fn anthropic_gets_at_most_four_cache_marks_and_never_on_a_thought() {
    for steps in 0..40 {
        let text = body(WireKind::Anthropic, &run(WireKind::Anthropic, steps)).to_string();
        let marks = text.matches("cache_control").count();
        assert!((2..=4).contains(&marks), "{steps} steps: {marks} marks");
    }
    let mut thought_last = followed(WireKind::Anthropic, &sample(WireKind::Anthropic, "thinking and call").bytes);
    thought_last.items.truncate(2);
    if let Item::Answer { blocks, native: Some(native) } = Arc::make_mut(&mut thought_last.items[1]) {
        blocks.clear();
        native.items.truncate(1);
    }
    let body = body(WireKind::Anthropic, &thought_last);
    assert_eq!(body["messages"][1]["content"][0].get("cache_control"), None);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
}

#[test]
fn the_path_of_gemini_carries_any_name_safely() {
    let mut request = request(WireKind::Gemini);
    request.model = "models/gemini-3-pro".to_owned();
    let path = |request: &ModelRequest| encode(WireKind::Gemini, request, &Quirks::default()).unwrap().path;
    assert_eq!(path(&request), "/models/gemini-3-pro:streamGenerateContent?alt=sse");
    request.model = "../../v1/files?x=#".to_owned();
    assert_eq!(path(&request), "/models/..%2F..%2Fv1%2Ffiles%3Fx%3D%23:streamGenerateContent?alt=sse");
}
