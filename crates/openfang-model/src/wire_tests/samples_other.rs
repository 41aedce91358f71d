//! Answers of Gemini and of Ollama as bytes.

use serde_json::{Value, json};

use super::samples::{Meaning, Sample, add, tokens};
use crate::answer::{Stop, Usage};
use crate::wire::WireKind;

/// Events without names and without a mark at the end.
fn events(chunks: &[Value]) -> Vec<u8> {
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\r\n\r\n"))
        .collect::<String>()
        .into_bytes()
}

pub(super) fn call_part(a: u32, b: u32) -> Value {
    json!({ "functionCall": { "name": "add_numbers", "args": { "a": a, "b": b } } })
}

pub(super) fn signed(mut part: Value) -> Value {
    part["thoughtSignature"] = json!("Ck8BcsjafQ==");
    part
}

/// The chunks of an answer: each has parts, the last one also the reason.
pub(super) fn candidates(parts: Vec<Vec<Value>>, finish: &str) -> Vec<Value> {
    let last = parts.len().saturating_sub(1);
    let chunk = |(place, parts): (usize, Vec<Value>)| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        let mut usage = json!({ "promptTokenCount": 20, "candidatesTokenCount": 2, "totalTokenCount": 22 });
        if place == last {
            candidate["finishReason"] = json!(finish);
            usage["candidatesTokenCount"] = json!(5);
            usage["thoughtsTokenCount"] = json!(4);
        }
        json!({
            "candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "r7",
        })
    };
    parts.into_iter().enumerate().map(chunk).collect()
}

#[expect(clippy::too_many_lines, reason = "a table: each entry is plain")]
pub(super) fn gemini() -> Vec<Sample> {
    let usage = Usage { reasoning: Some(4), ..tokens(20, 9) };
    let of = |name, parts: Vec<Vec<Value>>, finish: &str, meaning| Sample {
        name,
        wire: WireKind::Gemini,
        bytes: events(&candidates(parts, finish)),
        meaning: Meaning { usage, ..meaning },
    };
    let text = |text: &str| json!({ "text": text });
    let thought = json!({ "text": "Three and seven.", "thought": true });
    let blocked = json!({
        "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" },
        "usageMetadata": { "promptTokenCount": 20, "totalTokenCount": 20 }, "modelVersion": "gemini-3-pro",
    });
    let calls_nothing = json!({ "functionCall": { "name": "add_numbers", "args": {} } });
    vec![
        of(
            "text",
            vec![vec![text("Ten")], vec![text(" – 10.")]],
            "STOP",
            Meaning { text: "Ten – 10.", ..Meaning::default() },
        ),
        of(
            "text and call",
            vec![vec![text("Let me add.")], vec![signed(call_part(3, 7))]],
            "STOP",
            Meaning { text: "Let me add.", calls: vec![add(3, 7)], stop: Stop::Calls, ..Meaning::default() },
        ),
        of(
            "two calls",
            vec![vec![signed(call_part(3, 7)), call_part(1, 2)]],
            "STOP",
            Meaning::calls(vec![add(3, 7), add(1, 2)]),
        ),
        of(
            "same tool twice",
            vec![vec![signed(call_part(3, 7))], vec![call_part(3, 7)]],
            "STOP",
            Meaning::calls(vec![add(3, 7), add(3, 7)]),
        ),
        of("no arguments", vec![vec![calls_nothing]], "STOP", Meaning::no_arguments()),
        of(
            "thinking and call",
            vec![vec![thought], vec![signed(call_part(3, 7))], vec![]],
            "STOP",
            Meaning::thinking_and_call(),
        ),
        of(
            "signature on an empty part",
            vec![vec![text("Ten.")], vec![signed(text(""))]],
            "STOP",
            Meaning { text: "Ten.", ..Meaning::default() },
        ),
        of("cut at the limit in text", vec![vec![text("Ten is a")]], "MAX_TOKENS", Meaning::cut_text()),
        // A call is never cut on this wire: it comes whole or not at all.
        of(
            "cut at the limit in a call",
            vec![vec![call_part(3, 7)]],
            "MAX_TOKENS",
            Meaning { calls: vec![add(3, 7)], stop: Stop::Length, ..Meaning::default() },
        ),
        of(
            "filtered or refused",
            vec![vec![text("Ten")]],
            "SAFETY",
            Meaning { text: "Ten", stop: Stop::Filtered("SAFETY".to_owned()), ..Meaning::default() },
        ),
        of(
            "unknown things",
            vec![vec![text("Ten."), json!({ "hologram": { "shape": "cube" } })]],
            "STOP",
            Meaning { text: "Ten.", ..Meaning::default() },
        ),
        of(
            "a call that the model wrote wrongly",
            vec![vec![]],
            "MALFORMED_FUNCTION_CALL",
            Meaning { stop: Stop::Other("MALFORMED_FUNCTION_CALL".to_owned()), ..Meaning::default() },
        ),
        Sample {
            name: "blocked prompt",
            wire: WireKind::Gemini,
            bytes: events(&[blocked]),
            meaning: Meaning {
                stop: Stop::Filtered("PROHIBITED_CONTENT".to_owned()),
                usage: Usage { input: Some(20), ..Usage::default() },
                ..Meaning::default()
            },
        },
    ]
}

fn line(message: Value) -> Value {
    json!({ "model": "qwen3:8b", "created_at": "2026-11-01T00:00:00Z", "message": message, "done": false })
}

pub(super) fn lines(messages: Vec<Value>, reason: &str) -> Vec<u8> {
    let mut lines: Vec<Value> = messages.into_iter().map(line).collect();
    lines.push(json!({
        "model": "qwen3:8b", "created_at": "2026-11-01T00:00:01Z", "message": { "role": "assistant", "content": "" },
        "done": true, "done_reason": reason, "total_duration": 5, "prompt_eval_count": 20, "eval_count": 9,
    }));
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

pub(super) fn ollama() -> Vec<Sample> {
    let of = |name, messages: Vec<Value>, reason: &str, meaning| Sample {
        name,
        wire: WireKind::Ollama,
        bytes: lines(messages, reason),
        meaning: Meaning { usage: tokens(20, 9), ..meaning },
    };
    let text = |text: &str| json!({ "role": "assistant", "content": text });
    let call = |arguments: Value| json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "add_numbers", "arguments": arguments } }] });
    let three_and_seven = || call(json!({ "a": 3, "b": 7 }));
    vec![
        of("text", vec![text("Ten"), text(" – 10.")], "stop", Meaning { text: "Ten – 10.", ..Meaning::default() }),
        of(
            "text and call",
            vec![text("Let me add."), three_and_seven()],
            "stop",
            Meaning { text: "Let me add.", calls: vec![add(3, 7)], stop: Stop::Calls, ..Meaning::default() },
        ),
        of(
            "two calls",
            vec![three_and_seven(), call(json!({ "a": 1, "b": 2 }))],
            "stop",
            Meaning::calls(vec![add(3, 7), add(1, 2)]),
        ),
        of(
            "same tool twice",
            vec![three_and_seven(), three_and_seven()],
            "stop",
            Meaning::calls(vec![add(3, 7), add(3, 7)]),
        ),
        of("no arguments", vec![call(json!({}))], "stop", Meaning::no_arguments()),
        of(
            "thinking and call",
            vec![json!({ "role": "assistant", "content": "", "thinking": "Three and seven." }), three_and_seven()],
            "stop",
            Meaning::thinking_and_call(),
        ),
        of("cut at the limit in text", vec![text("Ten is a")], "length", Meaning::cut_text()),
        of(
            "cut at the limit in a call",
            vec![three_and_seven()],
            "length",
            Meaning { calls: vec![add(3, 7)], stop: Stop::Length, ..Meaning::default() },
        ),
        // A local server has no filter of its own.
        of(
            "filtered or refused",
            vec![text("I cannot help with that.")],
            "stop",
            Meaning { text: "I cannot help with that.", ..Meaning::default() },
        ),
        of(
            "unknown things",
            vec![json!({ "role": "assistant", "content": "Ten.", "hologram": { "shape": "cube" } })],
            "stop",
            Meaning { text: "Ten.", ..Meaning::default() },
        ),
    ]
}
