//! Earlier answers in the next request: as they came for the same model, in canonical form for another.

use std::sync::Arc;

use serde_json::{Value, json};

use super::samples::{Sample, sample, samples};
use super::{read, request};
use crate::answer::calls;
use crate::endpoint::Quirks;
use crate::request::{CallResult, Item, ModelRequest, Part};
use crate::wire::{WireKind, encode};

/// The request that follows on an answer: its results, if it has calls, and a new message.
pub(super) fn followed(wire: WireKind, bytes: &[u8]) -> ModelRequest {
    let answer = read(wire, bytes).unwrap();
    let results = calls(&answer.blocks).map(|call| CallResult {
        call: call.id.clone(),
        name: call.name.clone(),
        parts: vec![Part::Text { text: "10".to_owned() }],
        is_error: false,
    });
    let results: Vec<CallResult> = results.collect();
    let mut request = request(wire);
    request
        .items
        .push(Arc::new(Item::Answer { blocks: answer.blocks, native: Some(answer.native) }));
    if !results.is_empty() {
        request.items.push(Arc::new(Item::Results { results }));
    }
    request.items.push(Arc::new(Item::user("Are you sure?")));
    request
}

pub(super) fn body(wire: WireKind, request: &ModelRequest) -> Value {
    let encoded = encode(wire, request, &Quirks::default()).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

#[test]
fn signatures_and_encrypted_thoughts_go_back_exactly_as_they_came() {
    let anthropic = body(
        WireKind::Anthropic,
        &followed(WireKind::Anthropic, &sample(WireKind::Anthropic, "thinking and call").bytes),
    );
    assert_eq!(
        anthropic["messages"][1]["content"],
        json!([
            { "type": "thinking", "thinking": "Three and seven.", "signature": "EqQBCgIYAhIM/+==" },
            { "type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix" },
            { "type": "tool_use", "id": "toolu_01", "name": "add_numbers", "caller": { "type": "direct" }, "input": { "a": 3, "b": 7 } },
        ])
    );

    let responses = body(
        WireKind::Responses,
        &followed(WireKind::Responses, &sample(WireKind::Responses, "thinking and call").bytes),
    );
    assert_eq!(responses["input"][1], super::samples_openai::reasoning());
    assert_eq!(responses["input"][2]["id"], "fc_1");
    assert_eq!(responses["input"][3], json!({ "type": "function_call_output", "call_id": "call_1", "output": "10" }));

    let gemini = body(WireKind::Gemini, &followed(WireKind::Gemini, &sample(WireKind::Gemini, "two calls").bytes));
    assert_eq!(gemini["contents"][1]["parts"][0]["thoughtSignature"], "Ck8BcsjafQ==");
    assert_eq!(gemini["contents"][1]["parts"][1].get("thoughtSignature"), None);
    assert_eq!(
        gemini["contents"][2]["parts"][1],
        json!({ "functionResponse": { "name": "add_numbers", "response": { "output": "10" } } })
    );

    let chat = body(WireKind::Chat, &followed(WireKind::Chat, &sample(WireKind::Chat, "thinking and call").bytes));
    assert_eq!(chat["messages"][2]["reasoning_content"], "Three and seven.");
    assert_eq!(chat["messages"][3]["tool_call_id"], chat["messages"][2]["tool_calls"][0]["id"]);
}

#[test]
fn members_that_a_chat_lookalike_adds_to_a_call_go_back_with_it() {
    let call = json!({ "tool_calls": [{
        "index": 0, "id": "c1", "type": "function", "function": { "name": "add_numbers", "arguments": "{}" },
        "extra_content": { "google": { "thought_signature": "Ck8B" } },
    }] });
    let detail = json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "abc" }] });
    let chunks = [
        super::samples_openai::chunk(detail, None),
        super::samples_openai::chunk(call, None),
        super::samples_openai::chunk(json!({}), Some("tool_calls")),
    ];
    let body = body(WireKind::Chat, &followed(WireKind::Chat, &super::samples_openai::stream(&chunks)));
    let message = &body["messages"][2];
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "Ck8B");
    assert_eq!(message["reasoning_details"][0]["data"], "abc");
}

#[test]
fn another_model_or_wire_gets_the_canonical_form_without_thoughts() {
    let foreign = ["signature", "redacted_thinking", "encrypted_content", "thoughtSignature", "reasoning_content"];
    for Sample { name, wire, bytes, .. } in samples() {
        let mut other_model = followed(wire, &bytes);
        other_model.model = "another-model".to_owned();
        let mut not_replayed = followed(wire, &bytes);
        not_replayed.options.replay_native = false;
        for to in WireKind::ALL {
            for request in [&other_model, &not_replayed] {
                let text = body(to, request).to_string();
                for word in foreign {
                    let is_option = word == "encrypted_content" && to == WireKind::Responses;
                    assert!(is_option || !text.contains(word), "{wire} {name} to {to}: {word} in {text}");
                }
                assert!(!text.contains("Three and seven"), "{wire} {name} to {to}: thoughts are not sent");
            }
        }
    }
}

#[test]
fn a_dated_name_of_the_same_model_still_gets_its_native_items() {
    let mut request = followed(WireKind::Anthropic, &sample(WireKind::Anthropic, "thinking and call").bytes);
    request.model = "claude-sonnet-4-6-20260105".to_owned();
    assert!(body(WireKind::Anthropic, &request).to_string().contains("EqQBCgIYAhIM/+=="));
}

#[test]
fn unsigned_thoughts_and_blank_text_are_never_sent_back() {
    let events = super::samples::message(
        &[
            vec![json!({ "type": "thinking", "thinking": "" }), json!({ "type": "thinking_delta", "thinking": "Hm." })],
            vec![json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": "\n\n" })],
            super::samples::call_block("toolu_1", &["{}"]),
        ],
        json!({ "stop_reason": "tool_use" }),
    );
    let request = followed(WireKind::Anthropic, &super::samples::named_events(&events));
    let content = body(WireKind::Anthropic, &request)["messages"][1]["content"].clone();
    assert_eq!(content.as_array().unwrap().len(), 1, "{content}");
    assert_eq!(content[0]["type"], "tool_use");
}
