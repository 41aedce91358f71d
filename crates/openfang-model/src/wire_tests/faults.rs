//! What providers and those in between do wrong.

use std::time::{Duration, Instant};

use bytes::Bytes;
use openfang_types::limits::{MODEL_ANSWER_MAX_BYTES, MODEL_CALLS_MAX};
use serde_json::{Value, json};

use super::samples::{call_block, message, named_events, sample};
use super::samples_openai::{call_delta, chunk, function_call, stream};
use super::samples_other::{call_part, candidates, lines};
use super::{encoded, read};
use crate::answer::{CallArguments, ModelAnswer, Stop, Usage};
use crate::refusal::RefusalKind;
use crate::wire::{WireFault, WireKind};

fn read_as(wire: WireKind, content_type: &str, bytes: &[u8]) -> Result<ModelAnswer, WireFault> {
    let mut reader = encoded(wire).reader(Some(content_type));
    reader.push(&Bytes::copy_from_slice(bytes), &mut |_| {})?;
    reader.finish(&mut |_| {})
}

#[test]
fn a_web_page_with_status_200_is_named_as_what_it_is() {
    let page = b"<!DOCTYPE html>\n<html><head><title>Sign in to Wi-Fi</title></head><body>Hello</body></html>";
    for wire in WireKind::ALL {
        for content_type in ["text/html; charset=utf-8", "text/event-stream", "application/json"] {
            let fault = read_as(wire, content_type, page).unwrap_err();
            let WireFault::NotAnAnswer { beginning } = &fault else { panic!("{wire} {content_type}: {fault}") };
            assert!(beginning.contains("Sign in to Wi-Fi"), "{wire}: {beginning}");
            assert!(fault.to_string().contains("check the base url"), "{fault}");
        }
    }
}

#[test]
fn nothing_at_all_is_a_cut_answer() {
    for wire in WireKind::ALL {
        assert_eq!(read(wire, b"").unwrap_err(), WireFault::Cut);
    }
}

#[test]
fn broken_json_says_where_it_broke() {
    for wire in WireKind::ALL {
        let frame = match wire {
            WireKind::Ollama => "{\"message\": {,}}\n".to_owned(),
            _ => "data: {\"type\": ,}\n\n".to_owned(),
        };
        let fault = read(wire, frame.as_bytes()).unwrap_err();
        assert!(matches!(fault, WireFault::Malformed { .. }), "{wire}: {fault}");
        assert!(fault.to_string().contains("at byte"), "{wire}: {fault}");
    }
}

#[test]
fn an_error_within_a_stream_is_a_refusal_with_its_kind() {
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let failed = json!({
        "type": "response.failed",
        "response": { "id": "resp_1", "status": "failed", "error": { "code": "rate_limit_exceeded", "message": "Slow down" } },
    });
    let flat = json!({ "type": "error", "code": "server_error", "message": "Something broke", "sequence_number": 3 });
    let chat = json!({ "error": { "message": "Provider returned error", "code": 502 } });
    let gemini = json!({ "error": { "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" } });
    let too_long = json!({ "error": { "code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available context size" } });
    let data = |event: &Value| format!("data: {event}\n\n").into_bytes();
    let cases = [
        (WireKind::Anthropic, named_events(&[overloaded]), RefusalKind::Busy),
        (WireKind::Responses, named_events(&[failed]), RefusalKind::Busy),
        (WireKind::Responses, named_events(&[flat]), RefusalKind::Busy),
        (WireKind::Chat, data(&chat), RefusalKind::Busy),
        (WireKind::Chat, data(&too_long), RefusalKind::ContextTooLong),
        (WireKind::Gemini, data(&gemini), RefusalKind::Busy),
        (WireKind::Ollama, b"{\"error\":\"llama runner process has terminated\"}\n".to_vec(), RefusalKind::Busy),
    ];
    for (wire, bytes, kind) in cases {
        // The error comes after a part of an answer.
        let begun = sample(wire, "text").bytes;
        let half = match wire {
            WireKind::Ollama => begun.iter().position(|byte| *byte == b'\n').unwrap() + 1,
            _ => begun.windows(2).position(|pair| pair == b"\n\n" || pair == b"\n\r").unwrap() + 2,
        };
        let half = if wire == WireKind::Gemini { half + 1 } else { half };
        let fault = read(wire, &[&begun[..half], &bytes].concat()).unwrap_err();
        let WireFault::Refused(refusal) = fault else { panic!("{wire}: {fault}") };
        assert_eq!(refusal.kind, kind, "{wire}: {refusal}");
        assert!(!refusal.message.is_empty());
    }
}

/// An answer with so many calls.
fn many_calls(wire: WireKind, count: usize) -> Vec<u8> {
    let places = 0..count;
    match wire {
        WireKind::Anthropic => {
            let blocks: Vec<Vec<Value>> = places.map(|place| call_block(&format!("toolu_{place}"), &["{}"])).collect();
            named_events(&message(&blocks, json!({ "stop_reason": "tool_use" })))
        }
        WireKind::Responses => {
            let items = places.map(|place| function_call(&place.to_string(), "{}"));
            let mut events: Vec<Value> =
                items.map(|item| json!({ "type": "response.output_item.done", "item": item })).collect();
            events.push(json!({ "type": "response.completed", "response": { "id": "resp_1" } }));
            named_events(&events)
        }
        WireKind::Chat => {
            let calls = places.map(|place| {
                let place = u32::try_from(place).unwrap();
                chunk(call_delta(place * 100_000, &format!("call_{place}"), "{}"), None)
            });
            let mut chunks: Vec<Value> = calls.collect();
            chunks.push(chunk(json!({}), Some("tool_calls")));
            stream(&chunks)
        }
        WireKind::Gemini => {
            let parts = places.map(|_| call_part(1, 2)).collect();
            candidates(vec![parts], "STOP")
                .iter()
                .map(|chunk| format!("data: {chunk}\n\n"))
                .collect::<String>()
                .into_bytes()
        }
        WireKind::Ollama => {
            let call = json!({ "function": { "name": "add_numbers", "arguments": {} } });
            let calls: Vec<Value> = places.map(|_| call.clone()).collect();
            lines(vec![json!({ "role": "assistant", "content": "", "tool_calls": calls })], "stop")
        }
    }
}

#[test]
fn calls_by_the_thousand_are_refused_and_the_allowed_number_is_read() {
    for wire in WireKind::ALL {
        let fault = read(wire, &many_calls(wire, 1_000)).unwrap_err();
        assert_eq!(fault, WireFault::TooManyCalls, "{wire}");
        let answer = read(wire, &many_calls(wire, MODEL_CALLS_MAX)).unwrap();
        assert_eq!(answer.runnable_calls().count(), MODEL_CALLS_MAX, "{wire}");
    }
}

#[test]
fn arguments_of_100_kb_in_pieces_of_five_bytes_are_read_in_a_moment() {
    let text = "x".repeat(100_000);
    let arguments = format!("{{\"text\":\"{text}\"}}");
    let pieces: Vec<&str> = arguments.as_bytes().chunks(5).map(|piece| str::from_utf8(piece).unwrap()).collect();
    let chat: Vec<Value> = std::iter::once(chunk(call_delta(0, "call_1", ""), None))
        .chain(pieces.iter().map(|piece| chunk(call_delta(0, "", piece), None)))
        .chain([chunk(json!({}), Some("tool_calls"))])
        .collect();
    let anthropic = message(&[call_block("toolu_1", &pieces)], json!({ "stop_reason": "tool_use" }));

    for (wire, bytes) in [(WireKind::Chat, stream(&chat)), (WireKind::Anthropic, named_events(&anthropic))] {
        let begun = Instant::now();
        let answer = read(wire, &bytes).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "{wire}: {:?}", begun.elapsed());
        let call = answer.runnable_calls().next().unwrap();
        assert_eq!(call.arguments.as_json(), arguments, "{wire}");
    }
}

#[test]
fn an_endless_stream_ends_at_the_limit() {
    let piece = "x".repeat(64 * 1024);
    for wire in WireKind::ALL {
        let frame = match wire {
            WireKind::Anthropic => format!("data: {}\n\n", json!({ "type": "ping", "filler": piece })),
            WireKind::Responses => {
                format!("data: {}\n\n", json!({ "type": "response.output_text.delta", "delta": piece }))
            }
            WireKind::Chat => format!("data: {}\n\n", chunk(json!({ "content": piece }), None)),
            WireKind::Gemini => {
                format!("data: {}\n\n", json!({ "candidates": [{ "content": { "parts": [{ "text": piece }] } }] }))
            }
            WireKind::Ollama => format!("{}\n", json!({ "message": { "content": piece }, "done": false })),
        };
        let frame = Bytes::from(frame);
        let mut reader = encoded(wire).reader(None);
        let fault = loop {
            if let Err(fault) = reader.push(&frame, &mut |_| {}) {
                break fault;
            }
        };
        assert_eq!(fault, WireFault::TooLarge { what: "the answer", limit: MODEL_ANSWER_MAX_BYTES }, "{wire}");
        assert_eq!(reader.finish(&mut |_| {}).unwrap_err(), fault, "{wire}: an error stays an error");
    }
}

#[test]
fn a_line_or_an_event_without_end_is_refused() {
    for wire in WireKind::ALL {
        let start: &[u8] = if wire == WireKind::Ollama { b"{\"message\":\"" } else { b"data: {\"x\":\"" };
        let mut reader = encoded(wire).reader(None);
        let mut outcome = reader.push(&Bytes::copy_from_slice(start), &mut |_| {});
        let filler = Bytes::from(vec![b'x'; 1024 * 1024]);
        for _ in 0..20 {
            if outcome.is_ok() {
                outcome = reader.push(&filler, &mut |_| {});
            }
        }
        let fault = outcome.unwrap_err();
        assert!(matches!(fault, WireFault::TooLarge { .. } | WireFault::Events(_)), "{wire}: {fault}");
    }
}

#[test]
fn lying_usage_is_absent_or_made_plausible() {
    let chat = |usage: Value| {
        let mut last = chunk(json!({}), Some("stop"));
        last["usage"] = usage;
        read(WireKind::Chat, &stream(&[chunk(json!({ "content": "Ten." }), None), last]))
            .unwrap()
            .usage
    };
    let nothing = Usage::default();
    assert_eq!(chat(json!({ "prompt_tokens": -5, "completion_tokens": 1e300 })), nothing);
    assert_eq!(chat(json!({ "prompt_tokens": "many", "completion_tokens": [1] })), nothing);
    assert_eq!(chat(json!({ "prompt_tokens": null, "prompt_tokens_details": null })), nothing);
    let lying =
        chat(json!({ "prompt_tokens": 10, "prompt_tokens_details": { "cached_tokens": 5_000 }, "completion_tokens": 3,
        "completion_tokens_details": { "reasoning_tokens": 99 } }));
    assert_eq!(
        lying,
        Usage { input: Some(10), cached: Some(10), cache_written: None, output: Some(3), reasoning: Some(3) }
    );

    let mut events = message(&[], json!({ "stop_reason": "end_turn" }));
    events[0]["message"]["usage"] =
        json!({ "input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX, "output_tokens": u64::MAX });
    let usage = read(WireKind::Anthropic, &named_events(&events)).unwrap().usage;
    assert_eq!(usage.input, Some(u64::MAX));
}

#[test]
fn arguments_that_are_no_object_make_a_call_that_says_why_it_cannot_run() {
    for (written, reason) in [
        ("{\"a\": 3,}", "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ("\"3 and 7\"", "not a JSON object"),
        ("{\"a\": 1, \"a\": 2}", "duplicate key"),
        ("{\"a\": 1} {\"b\": 2}", "not valid JSON"),
    ] {
        let deltas = [chunk(call_delta(0, "call_1", written), None), chunk(json!({}), Some("tool_calls"))];
        let answer = read(WireKind::Chat, &stream(&deltas)).unwrap();
        let call = answer.runnable_calls().next().unwrap();
        let CallArguments::Invalid { text, reason: given } = &call.arguments else { panic!("{written} was taken") };
        assert_eq!(text, written);
        assert!(given.contains(reason), "{written}: {given}");
    }
}

#[test]
fn a_chat_server_that_does_not_stream_is_understood() {
    let document = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4.1",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Let me add.", "tool_calls": [
                { "id": "call_1", "type": "function", "function": { "name": "add_numbers", "arguments": "{\"a\":3,\"b\":7}" } },
            ],
        } }],
        "usage": { "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29 },
    });
    let answer = read_as(WireKind::Chat, "application/json", document.to_string().as_bytes()).unwrap();
    assert_eq!((answer.text().as_str(), &answer.stop), ("Let me add.", &Stop::Calls));
    assert_eq!(answer.runnable_calls().count(), 1);
}

#[test]
fn a_chat_server_that_sends_no_end_mark_is_understood() {
    let bytes = sample(WireKind::Chat, "text and call").bytes;
    let text = String::from_utf8(bytes).unwrap();
    let answer = read(WireKind::Chat, text.strip_suffix("data: [DONE]\n\n").unwrap().as_bytes()).unwrap();
    assert_eq!(answer.stop, Stop::Calls);
}

#[test]
fn a_prompt_that_ollama_cut_without_a_word_is_noticed() {
    let mut request = super::request(WireKind::Ollama);
    request.system = "You are a careful assistant. ".repeat(2_000).into();
    let encoded = crate::wire::encode(WireKind::Ollama, &request, &crate::Quirks::default()).unwrap();
    let counted = |read: u64| {
        let line =
            json!({ "message": { "content": "Hi" }, "done": true, "done_reason": "stop", "prompt_eval_count": read });
        let mut reader = encoded.reader(None);
        drop(reader.push(&Bytes::from(line.to_string()), &mut |_| {}));
        reader.finish(&mut |_| {})
    };
    assert!(matches!(counted(4_096), Err(WireFault::ContextCut { read: 4_096, .. })));
    assert!(counted(15_000).is_ok());
}
