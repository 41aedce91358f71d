//! Whole answers as bytes, written from the documented shapes, and what each one means.

use serde_json::{Value, json};

use super::samples_openai::{chat, responses};
use super::samples_other::{gemini, ollama};
use crate::answer::{Stop, Usage};
use crate::wire::WireKind;

/// What every wire must have a sample of.
pub(super) const KINDS: [&str; 10] = [
    "text",
    "text and call",
    "two calls",
    "same tool twice",
    "no arguments",
    "thinking and call",
    "cut at the limit in text",
    "cut at the limit in a call",
    "filtered or refused",
    "unknown things",
];

pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) wire: WireKind,
    pub(super) bytes: Vec<u8>,
    pub(super) meaning: Meaning,
}

pub(super) struct Meaning {
    pub(super) text: &'static str,
    pub(super) thinking: &'static str,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) stop: Stop,
    pub(super) usage: Usage,
}

impl Default for Meaning {
    fn default() -> Self {
        Self { text: "", thinking: "", calls: Vec::new(), stop: Stop::Finished, usage: Usage::default() }
    }
}

/// What most wires have a sample of.
impl Meaning {
    pub(super) fn calls(calls: Vec<(String, Value)>) -> Self {
        Self { calls, stop: Stop::Calls, ..Self::default() }
    }

    pub(super) fn no_arguments() -> Self {
        Self::calls(vec![("add_numbers".to_owned(), json!({}))])
    }

    pub(super) fn thinking_and_call() -> Self {
        Self { thinking: "Three and seven.", ..Self::calls(vec![add(3, 7)]) }
    }

    pub(super) fn cut_text() -> Self {
        Self { text: "Ten is a", stop: Stop::Length, ..Self::default() }
    }

    pub(super) fn cut_call() -> Self {
        let cut = json!({ "invalid": "{\"a\": 3, \"b\"" });
        Self { calls: vec![("add_numbers".to_owned(), cut)], stop: Stop::Length, ..Self::default() }
    }
}

pub(super) fn samples() -> Vec<Sample> {
    [anthropic(), responses(), chat(), gemini(), ollama()].into_iter().flatten().collect()
}

pub(super) fn sample(wire: WireKind, name: &str) -> Sample {
    samples().into_iter().find(|sample| sample.wire == wire && sample.name == name).unwrap()
}

/// Events with names, as Anthropic and Responses write them.
pub(super) fn named_events(events: &[Value]) -> Vec<u8> {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect::<String>().into_bytes()
}

pub(super) fn add(a: u32, b: u32) -> (String, Value) {
    ("add_numbers".to_owned(), json!({ "a": a, "b": b }))
}

pub(super) fn tokens(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

/// The events of an answer of Anthropic Messages around these blocks.
pub(super) fn message(blocks: &[Vec<Value>], stop: Value) -> Vec<Value> {
    let usage = json!({ "input_tokens": 20, "output_tokens": 1 });
    let mut events = vec![json!({
        "type": "message_start",
        "message": {
            "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        },
    })];
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = block.split_first().unwrap();
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.push(json!({ "type": "ping" }));
        events.extend(
            deltas
                .iter()
                .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": stop, "usage": { "output_tokens": 9 } }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn ended(reason: &str) -> Value {
    json!({ "stop_reason": reason, "stop_sequence": null })
}

fn text_block(pieces: &[&str]) -> Vec<Value> {
    let deltas = pieces.iter().map(|piece| json!({ "type": "text_delta", "text": piece }));
    std::iter::once(json!({ "type": "text", "text": "" })).chain(deltas).collect()
}

pub(super) fn call_block(id: &str, pieces: &[&str]) -> Vec<Value> {
    let start =
        json!({ "type": "tool_use", "id": id, "name": "add_numbers", "input": {}, "caller": { "type": "direct" } });
    let deltas = pieces.iter().map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
    std::iter::once(start).chain(deltas).collect()
}

pub(super) fn thinking_block() -> Vec<Value> {
    vec![
        json!({ "type": "thinking", "thinking": "", "signature": "" }),
        json!({ "type": "thinking_delta", "thinking": "Three and " }),
        json!({ "type": "thinking_delta", "thinking": "seven." }),
        json!({ "type": "signature_delta", "signature": "EqQBCgIYAhIM/+==" }),
    ]
}

fn anthropic() -> Vec<Sample> {
    let of = |name, events: Vec<Value>, meaning| Sample {
        name,
        wire: WireKind::Anthropic,
        bytes: named_events(&events),
        meaning: Meaning { usage: tokens(20, 9), ..meaning },
    };
    let call = call_block("toolu_01", &["{\"a\": 3", ", \"b\": 7}"]);
    let mut samples = vec![
        of(
            "text",
            message(&[text_block(&["Ten", " – 10."])], ended("end_turn")),
            Meaning { text: "Ten – 10.", ..Meaning::default() },
        ),
        of(
            "text and call",
            message(&[text_block(&["Let me add."]), call.clone()], ended("tool_use")),
            Meaning { text: "Let me add.", calls: vec![add(3, 7)], stop: Stop::Calls, ..Meaning::default() },
        ),
        of(
            "two calls",
            message(&[call.clone(), call_block("toolu_02", &["{\"a\":1,\"b\":2}"])], ended("tool_use")),
            Meaning::calls(vec![add(3, 7), add(1, 2)]),
        ),
        of(
            "same tool twice",
            message(&[call.clone(), call_block("toolu_03", &["{\"a\": 3", ", \"b\": 7}"])], ended("tool_use")),
            Meaning::calls(vec![add(3, 7), add(3, 7)]),
        ),
        of("no arguments", message(&[call_block("toolu_04", &[""])], ended("tool_use")), Meaning::no_arguments()),
        of(
            "thinking and call",
            message(
                &[
                    thinking_block(),
                    vec![json!({ "type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix" })],
                    call.clone(),
                ],
                ended("tool_use"),
            ),
            Meaning::thinking_and_call(),
        ),
        of("cut at the limit in text", message(&[text_block(&["Ten is a"])], ended("max_tokens")), Meaning::cut_text()),
        of(
            "cut at the limit in a call",
            message(&[call_block("toolu_05", &["{\"a\": 3, \"b\""])], ended("max_tokens")),
            Meaning::cut_call(),
        ),
        of(
            "filtered or refused",
            message(
                &[],
                json!({
                    "stop_reason": "refusal", "stop_sequence": null,
                    "stop_details": { "type": "refusal", "category": "bio", "explanation": "This is about pathogens." },
                }),
            ),
            Meaning { stop: Stop::Refused("This is about pathogens.".to_owned()), ..Meaning::default() },
        ),
    ];
    let mut unknown = message(
        &[
            text_block(&["Ten."]),
            vec![json!({ "type": "hologram", "shape": "cube" }), json!({ "type": "hologram_delta", "side": 3 })],
        ],
        ended("end_turn"),
    );
    unknown.insert(2, json!({ "type": "weather_report", "sun": true }));
    samples.push(of("unknown things", unknown, Meaning { text: "Ten.", ..Meaning::default() }));
    samples.push(cached());
    for (name, reason, stop) in [
        ("paused", "pause_turn", Stop::Paused),
        ("context full", "model_context_window_exceeded", Stop::ContextFull),
        ("new reason", "tired", Stop::Other("tired".to_owned())),
    ] {
        let events = message(&[text_block(&["Ten"])], ended(reason));
        samples.push(of(name, events, Meaning { text: "Ten", stop, ..Meaning::default() }));
    }
    samples
}

fn cached() -> Sample {
    let mut events = message(&[text_block(&["Ten."])], ended("end_turn"));
    events[0]["message"]["usage"] = json!({
        "input_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 95, "output_tokens": 1,
    });
    let usage =
        Usage { input: Some(1_000), cached: Some(900), cache_written: Some(95), output: Some(9), reasoning: None };
    let meaning = Meaning { text: "Ten.", usage, ..Meaning::default() };
    Sample { name: "cached usage", wire: WireKind::Anthropic, bytes: named_events(&events), meaning }
}
