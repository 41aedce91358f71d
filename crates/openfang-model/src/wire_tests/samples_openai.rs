//! Answers of OpenAI Responses and of OpenAI Chat Completions as bytes.

use serde_json::{Value, json};

use super::samples::{Meaning, Sample, add, named_events, tokens};
use crate::answer::{Stop, Usage};
use crate::wire::WireKind;

pub(super) fn function_call(id: &str, arguments: &str) -> Value {
    json!({
        "id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": format!("call_{id}"),
        "name": "add_numbers", "arguments": arguments,
    })
}

fn output_message(id: &str, text: &str) -> Value {
    json!({
        "id": id, "type": "message", "status": "completed", "role": "assistant", "phase": "final_answer",
        "content": [{ "type": "output_text", "annotations": [], "logprobs": [], "text": text }],
    })
}

pub(super) fn reasoning() -> Value {
    json!({
        "id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAAABpQ==",
        "summary": [{ "type": "summary_text", "text": "Three and seven." }],
    })
}

/// The deltas that an item grows by, before it is whole.
fn growth(item: &Value, output_index: usize) -> Vec<Value> {
    let id = &item["id"];
    let delta = |kind: &str, piece: &str| json!({ "type": kind, "item_id": id, "output_index": output_index, "delta": piece, "obfuscation": "xYz" });
    let (kind, whole) = match item["type"].as_str().unwrap() {
        "message" => ("response.output_text.delta", item["content"][0]["text"].as_str().unwrap_or_default()),
        "reasoning" => ("response.reasoning_summary_text.delta", item["summary"][0]["text"].as_str().unwrap()),
        "function_call" => ("response.function_call_arguments.delta", item["arguments"].as_str().unwrap()),
        _ => return Vec::new(),
    };
    let half = whole.char_indices().nth(whole.chars().count() / 2).map_or(0, |(at, _)| at);
    [&whole[..half], &whole[half..]].iter().map(|piece| delta(kind, piece)).collect()
}

fn response(items: &[Value], last: Value) -> Vec<Value> {
    let mut events = vec![
        json!({ "type": "response.created", "response": { "id": "resp_1", "object": "response", "status": "in_progress", "output": [] } }),
        json!({ "type": "response.in_progress", "response": { "id": "resp_1", "output": [] } }),
    ];
    for (output_index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        if begun["type"] == "function_call" {
            begun["arguments"] = json!("");
        }
        events.push(json!({ "type": "response.output_item.added", "output_index": output_index, "item": begun }));
        events.extend(growth(item, output_index));
        events.push(json!({ "type": "response.output_item.done", "output_index": output_index, "item": item }));
    }
    let mut whole = json!({
        "id": "resp_1", "object": "response", "status": "completed", "output": items, "store": false,
        "usage": {
            "input_tokens": 20, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": 9, "output_tokens_details": { "reasoning_tokens": 4 }, "total_tokens": 29,
        },
    });
    whole.as_object_mut().unwrap().extend(last.as_object().unwrap().clone());
    let kind = if whole["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    events.push(json!({ "type": kind, "response": whole }));
    events
}

pub(super) fn responses() -> Vec<Sample> {
    let usage = Usage { cached: Some(0), cache_written: Some(0), reasoning: Some(4), ..tokens(20, 9) };
    let of = |name, events: Vec<Value>, meaning| Sample {
        name,
        wire: WireKind::Responses,
        bytes: named_events(&events),
        meaning: Meaning { usage, ..meaning },
    };
    let call = function_call("1", "{\"a\": 3, \"b\": 7}");
    let incomplete = |reason| json!({ "status": "incomplete", "incomplete_details": { "reason": reason } });
    let refusal = json!({
        "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
        "content": [{ "type": "refusal", "refusal": "I cannot help with that." }],
    });
    let mut unknown = response(
        &[json!({ "id": "ho_1", "type": "hologram", "shape": "cube" }), output_message("msg_1", "Ten.")],
        json!({}),
    );
    unknown.insert(1, json!({ "type": "response.weather", "delta": { "sun": true } }));
    vec![
        of(
            "text",
            response(&[output_message("msg_1", "Ten – 10.")], json!({})),
            Meaning { text: "Ten – 10.", ..Meaning::default() },
        ),
        of(
            "text and call",
            response(&[output_message("msg_1", "Let me add."), call.clone()], json!({})),
            Meaning { text: "Let me add.", calls: vec![add(3, 7)], stop: Stop::Calls, ..Meaning::default() },
        ),
        of(
            "two calls",
            response(&[call.clone(), function_call("2", "{\"a\":1,\"b\":2}")], json!({})),
            Meaning::calls(vec![add(3, 7), add(1, 2)]),
        ),
        of(
            "same tool twice",
            response(&[call.clone(), function_call("2", "{\"a\": 3, \"b\": 7}")], json!({})),
            Meaning::calls(vec![add(3, 7), add(3, 7)]),
        ),
        of("no arguments", response(&[function_call("1", "")], json!({})), Meaning::no_arguments()),
        of("thinking and call", response(&[reasoning(), call.clone()], json!({})), Meaning::thinking_and_call()),
        of(
            "cut at the limit in text",
            response(&[output_message("msg_1", "Ten is a")], incomplete("max_output_tokens")),
            Meaning::cut_text(),
        ),
        of(
            "cut at the limit in a call",
            response(&[function_call("1", "{\"a\": 3, \"b\"")], incomplete("max_output_tokens")),
            Meaning::cut_call(),
        ),
        of(
            "filtered or refused",
            response(&[refusal], json!({})),
            Meaning { stop: Stop::Refused("I cannot help with that.".to_owned()), ..Meaning::default() },
        ),
        of("unknown things", unknown, Meaning { text: "Ten.", ..Meaning::default() }),
    ]
}

pub(super) fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }], "usage": null,
    })
}

fn usage_chunk() -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1", "choices": [],
        "usage": {
            "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29,
            "prompt_tokens_details": { "cached_tokens": 12 },
        },
    })
}

/// Events without names, and the mark at the end.
pub(super) fn stream(chunks: &[Value]) -> Vec<u8> {
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

pub(super) fn call_delta(index: u32, id: &str, arguments: &str) -> Value {
    let mut call = json!({ "index": index, "function": { "arguments": arguments } });
    if !id.is_empty() {
        call["id"] = json!(id);
        call["type"] = json!("function");
        call["function"]["name"] = json!("add_numbers");
    }
    json!({ "tool_calls": [call] })
}

#[expect(clippy::too_many_lines, reason = "a table: each entry is plain")]
pub(super) fn chat() -> Vec<Sample> {
    let usage = Usage { cached: Some(12), ..tokens(20, 9) };
    let of = |name, deltas: Vec<Value>, finish: &str, meaning| {
        let mut chunks = vec![chunk(json!({ "role": "assistant", "content": null }), None)];
        chunks.extend(deltas.into_iter().map(|delta| chunk(delta, None)));
        chunks.push(chunk(json!({}), Some(finish)));
        chunks.push(usage_chunk());
        Sample { name, wire: WireKind::Chat, bytes: stream(&chunks), meaning: Meaning { usage, ..meaning } }
    };
    let text = |text: &str| json!({ "content": text });
    let call = || vec![call_delta(0, "call_1", ""), call_delta(0, "", "{\"a\": 3"), call_delta(0, "", ", \"b\": 7}")];
    let with = |more: Vec<Value>| [call(), more].concat();
    let own_index = json!({ "tool_calls": [
        { "index": 0, "id": "x1", "type": "function", "function": { "name": "add_numbers", "arguments": "{\"a\":3,\"b\":7}" } },
        { "index": 0, "id": "x2", "type": "function", "function": { "name": "add_numbers", "arguments": "{\"a\":1,\"b\":2}" } },
    ] });
    vec![
        of("text", vec![text("Ten"), text(" – 10.")], "stop", Meaning { text: "Ten – 10.", ..Meaning::default() }),
        of(
            "text and call",
            [vec![text("Let me add.")], call()].concat(),
            "tool_calls",
            Meaning { text: "Let me add.", calls: vec![add(3, 7)], stop: Stop::Calls, ..Meaning::default() },
        ),
        of(
            "two calls",
            with(vec![call_delta(1, "call_2", "{\"a\":1,\"b\":2}")]),
            "tool_calls",
            Meaning::calls(vec![add(3, 7), add(1, 2)]),
        ),
        of(
            "same tool twice",
            with(vec![call_delta(1, "call_2", "{\"a\": 3, \"b\": 7}")]),
            "tool_calls",
            Meaning::calls(vec![add(3, 7), add(3, 7)]),
        ),
        of("two calls with one index", vec![own_index], "stop", Meaning::calls(vec![add(3, 7), add(1, 2)])),
        of("no arguments", vec![call_delta(0, "call_1", "")], "tool_calls", Meaning::no_arguments()),
        of(
            "thinking and call",
            with(Vec::new())
                .into_iter()
                .rev()
                .chain([json!({ "reasoning_content": "Three and seven." })])
                .rev()
                .collect(),
            "tool_calls",
            Meaning::thinking_and_call(),
        ),
        of(
            "thinking under another name",
            vec![json!({ "reasoning": "Three and seven.", "content": "" }), text("Ten.")],
            "stop",
            Meaning { thinking: "Three and seven.", text: "Ten.", ..Meaning::default() },
        ),
        of("cut at the limit in text", vec![text("Ten is a")], "length", Meaning::cut_text()),
        of(
            "cut at the limit in a call",
            vec![call_delta(0, "call_1", "{\"a\": 3, \"b\"")],
            "length",
            Meaning::cut_call(),
        ),
        of(
            "filtered or refused",
            vec![json!({ "refusal": "I cannot " }), json!({ "refusal": "help with that." })],
            "stop",
            Meaning { stop: Stop::Refused("I cannot help with that.".to_owned()), ..Meaning::default() },
        ),
        of(
            "filtered",
            vec![text("Ten")],
            "content_filter",
            Meaning {
                text: "Ten",
                stop: Stop::Filtered("the provider's filter stopped the answer".to_owned()),
                ..Meaning::default()
            },
        ),
        of(
            "unknown things",
            vec![json!({ "content": "Ten.", "hologram": { "shape": "cube" } })],
            "stop",
            Meaning { text: "Ten.", ..Meaning::default() },
        ),
    ]
}
