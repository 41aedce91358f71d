//! Whole answers in the format of each wire, with 20 tokens of input and 9 of output.

use openfang_model::WireKind;
use serde_json::{Value, json};

use super::Reply;

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum Say {
    Text(String),
    Call { id: String, name: String, arguments: Value },
}

impl Say {
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub fn call(id: &str, name: &str, arguments: Value) -> Self {
        Self::Call { id: id.to_owned(), name: name.to_owned(), arguments }
    }
}

/// A whole answer on a wire.
pub fn answer(wire: WireKind, says: &[Say]) -> Reply {
    let has_calls = says.iter().any(|say| matches!(say, Say::Call { .. }));
    let bytes = match wire {
        WireKind::Anthropic => anthropic(says, has_calls),
        WireKind::Responses => responses(says),
        WireKind::Chat => chat(says, has_calls),
        WireKind::Gemini => gemini(says),
        WireKind::Ollama => ollama(says),
    };
    let media_type = if wire == WireKind::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    Reply::Stream { media_type, bytes, chunk: 48 }
}

fn named(events: &[Value]) -> Vec<u8> {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect::<String>().into_bytes()
}

fn anthropic(says: &[Say], has_calls: bool) -> Vec<u8> {
    let mut events = vec![json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": { "input_tokens": 20, "output_tokens": 1 },
    } })];
    for (index, say) in says.iter().enumerate() {
        let (block, delta) = match say {
            Say::Text(text) => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text })),
            Say::Call { id, name, arguments } => (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            ),
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if has_calls { "tool_use" } else { "end_turn" };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 9 } }));
    events.push(json!({ "type": "message_stop" }));
    named(&events)
}

fn responses(says: &[Say]) -> Vec<u8> {
    let items: Vec<Value> = says
        .iter()
        .enumerate()
        .map(|(index, say)| match say {
            Say::Text(text) => json!({
                "id": format!("msg_{index}"), "type": "message", "status": "completed", "role": "assistant",
                "content": [{ "type": "output_text", "annotations": [], "text": text }],
            }),
            Say::Call { id, name, arguments } => json!({
                "id": format!("fc_{index}"), "type": "function_call", "status": "completed", "call_id": id, "name": name,
                "arguments": arguments.to_string(),
            }),
        })
        .collect();
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output,
            "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
            "usage": {
                "input_tokens": 20, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
                "output_tokens": 9, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 29,
            },
        })
    };
    let mut events = vec![json!({ "type": "response.created", "response": response("in_progress", &[]) })];
    for (index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        let mut deltas = Vec::new();
        let id = &item["id"];
        if let Some(text) = item["content"][0]["text"].as_str() {
            begun["content"] = json!([]);
            let part = json!({ "type": "output_text", "annotations": [], "text": "" });
            deltas.push(json!({ "type": "response.content_part.added", "item_id": id, "output_index": index, "content_index": 0, "part": part }));
            deltas.push(json!({ "type": "response.output_text.delta", "item_id": id, "output_index": index, "content_index": 0, "delta": text, "logprobs": [] }));
        } else {
            begun["arguments"] = json!("");
            deltas.push(json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": item["arguments"] }));
        }
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": begun }));
        events.extend(deltas);
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": response("completed", &items) }));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    named(&events)
}

fn chat(says: &[Say], has_calls: bool) -> Vec<u8> {
    let chunk = |choices: Value, usage: Value| json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": usage });
    let choice = |delta: Value, finish: Value| json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    let mut chunks = vec![chunk(choice(json!({ "role": "assistant", "content": "" }), Value::Null), Value::Null)];
    let mut calls = 0;
    for say in says {
        let delta = match say {
            Say::Text(text) => json!({ "content": text }),
            Say::Call { id, name, arguments } => {
                calls += 1;
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "tool_calls": [{ "index": calls - 1, "id": id, "type": "function", "function": function }] })
            }
        };
        chunks.push(chunk(choice(delta, Value::Null), Value::Null));
    }
    let finish = if has_calls { "tool_calls" } else { "stop" };
    chunks.push(chunk(choice(json!({}), json!(finish)), Value::Null));
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29 });
    chunks.push(chunk(json!([]), usage));
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

fn gemini(says: &[Say]) -> Vec<u8> {
    let usage = json!({ "promptTokenCount": 20, "candidatesTokenCount": 9, "totalTokenCount": 29 });
    let chunk = |(index, say): (usize, &Say)| {
        let part = match say {
            Say::Text(text) => json!({ "text": text }),
            Say::Call { name, arguments, .. } => {
                json!({ "functionCall": { "name": name, "args": arguments }, "thoughtSignature": "c2lnbmVk" })
            }
        };
        let mut candidate = json!({ "content": { "role": "model", "parts": [part] }, "index": 0 });
        if index + 1 == says.len() {
            candidate["finishReason"] = json!("STOP");
        }
        let whole =
            json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1" });
        format!("data: {whole}\r\n\r\n")
    };
    says.iter().enumerate().map(chunk).collect::<String>().into_bytes()
}

fn ollama(says: &[Say]) -> Vec<u8> {
    let line = |message: Value| json!({ "model": "m", "created_at": "2026-11-01T00:00:00Z", "message": message, "done": false });
    let mut lines: Vec<Value> = says
        .iter()
        .map(|say| match say {
            Say::Text(text) => line(json!({ "role": "assistant", "content": text })),
            Say::Call { name, arguments, .. } => {
                let call = json!({ "function": { "name": name, "arguments": arguments } });
                line(json!({ "role": "assistant", "content": "", "tool_calls": [call] }))
            }
        })
        .collect();
    let mut last = line(json!({ "role": "assistant", "content": "" }));
    last["done"] = json!(true);
    last["done_reason"] = json!("stop");
    last["prompt_eval_count"] = json!(20);
    last["eval_count"] = json!(9);
    lines.push(last);
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}
